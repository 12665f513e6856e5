package membership

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// pairRig returns n1 and n2, both up; n2 has sent heartbeats for a while.
func pairRig(tune func(*Settings)) (*rig, ID) {
	r := newRig(tune)
	other := id("n2:1", 2)
	r.joins(other, "n2")
	for range 20 {
		r.beatOf(other)
		r.wait(100 * time.Millisecond)
	}
	return r, other
}

// beatOf delivers heartbeats of a member on both lanes.
func (r *rig) beatOf(other ID) {
	h := heartbeat{
		Cluster: r.table.cluster,
		Seq:     uint64(r.clock.UnixNano()),
		Members: r.sums.members,
		All:     r.sums.all,
		Seen:    make([]byte, len(r.seenBy.bits)),
	}
	r.hears(other, h)
	h.Stream = true
	r.hears(other, h)
}

func (r *rig) lost(other ID) bool { return slices.Contains(r.table.rows[r.self].Unreachable, other) }

func TestAMemberWhoseAddressRefusesIsUnreachableAtOnce(t *testing.T) {
	r, other := pairRig(nil)
	require.False(t, r.lost(other))
	r.happens(DialFailed{Address: other.Address, Refused: true})
	require.True(t, r.lost(other), "within the same step")
	r.wait(2 * time.Second)
	require.True(t, r.lost(other))
	require.Equal(t, Up, r.table.status(other), "nothing else follows")
}

func TestARefusalHoldsUntilANewerHeartbeat(t *testing.T) {
	r, other := pairRig(nil)
	last := r.observation.monitor.subjects[other].seq
	r.happens(DialFailed{Address: other.Address, Refused: true})
	r.hears(other, heartbeat{Cluster: r.table.cluster, Seq: last, Stream: true})
	r.wait(50 * time.Millisecond)
	require.True(t, r.lost(other), "that one was on the way when it died")
	r.beatOf(other)
	r.wait(50 * time.Millisecond)
	require.False(t, r.lost(other))
}

func TestWhatRefusesForALivingMemberDoesNotMakeItFlap(t *testing.T) {
	r, other := pairRig(nil)
	r.happens(DialFailed{Address: other.Address, Refused: true})
	for range 50 {
		r.beatOf(other)
		r.wait(50 * time.Millisecond)
		r.happens(DialFailed{Address: other.Address, Refused: true})
		require.False(t, r.lost(other), "its heartbeats have disproved it")
		r.wait(50 * time.Millisecond)
	}
	r.wait(200 * time.Millisecond)
	r.happens(DialFailed{Address: other.Address, Refused: true})
	require.True(t, r.lost(other), "but in silence a refusal counts")
}

func TestRefusalsCanBeLeftToTheHeartbeats(t *testing.T) {
	r, other := pairRig(func(set *Settings) { set.Detector.KeepRefused = true })
	r.happens(DialFailed{Address: other.Address, Refused: true})
	require.False(t, r.lost(other))
	r.wait(time.Second)
	require.True(t, r.lost(other))
}

func TestAnotherIncarnationAtTheAddressProvesThatTheOldOneIsGone(t *testing.T) {
	r, other := pairRig(nil)
	r.happens(DialFailed{Address: other.Address, Lives: other.Incarnation})
	require.False(t, r.lost(other), "it is the one that we know")
	r.happens(DialFailed{Address: other.Address, Lives: 77})
	require.True(t, r.lost(other))
}

func TestAStrangersAddressThatRefusesIsNoNews(t *testing.T) {
	r, _ := pairRig(nil)
	before := r.version
	r.happens(DialFailed{Address: "n9:1", Refused: true})
	r.happens(DialFailed{Address: r.self.Address, Refused: true})
	r.happens(DialFailed{Address: "n2:1", Foreign: "other cluster"})
	require.Equal(t, before, r.version)
}

// What memberlist believes changes no row, at any time and whatever the heartbeats say. The
// test tries 256 orders of its reports, for members that are alive, silent, and back again.
func TestWhatMemberlistBelievesChangesNoRow(t *testing.T) {
	const slots = 8
	for name, speaks := range map[string]func(slot int) bool{
		"speaks":     func(int) bool { return true },
		"dies":       func(slot int) bool { return slot < 2 },
		"comes back": func(slot int) bool { return slot < 1 || slot > 5 },
	} {
		history := func(word func(slot int) []bool) []uint64 {
			r, other := pairRig(nil)
			var rows []uint64
			for slot := range slots {
				for _, on := range word(slot) {
					r.happens(Connected{ID: other, On: on})
				}
				if speaks(slot) {
					r.beatOf(other)
				}
				r.wait(100 * time.Millisecond)
				rows = append(rows, r.table.rows[r.self].Version)
			}
			r.beatOf(other)
			r.wait(50 * time.Millisecond)
			require.False(t, r.lost(other))
			return rows
		}
		want := history(func(int) []bool { return nil })
		for mask := range 1 << slots {
			got := history(func(slot int) []bool {
				alive := mask&(1<<slot) != 0
				return []bool{alive, !alive, alive}
			})
			require.Equal(t, want, got, "%s, order %b", name, mask)
		}
	}
}

func TestADifferenceOfTablesIsNoSilence(t *testing.T) {
	w := running(t, 1, 20)
	observer := w.nodes[0].machine
	var subject *Machine
	for _, n := range w.nodes[1:] {
		if !slices.Contains(observer.dissemination.near.observed, n.machine.self) {
			subject = n.machine
		}
	}
	// As if the observer had a table by which it observes a subject that does not know.
	observer.observation.observed = append(slices.Clone(observer.observation.observed), subject.self)
	observer.observation.watchSubjects()
	version := observer.table.rows[observer.self].Version
	w.run(time.Minute)
	require.Equal(t, version, observer.table.rows[observer.self].Version, "nobody was unreachable for a moment")
	require.Contains(t, subject.dissemination.requests, observer.self)
	require.Contains(t, subject.dissemination.receivers(), observer.self)

	observer.observation.observed = observer.table.neighbours(observer.self).observed
	observer.observation.watchSubjects()
	w.run(time.Minute)
	require.Empty(t, subject.dissemination.requests, "who asks no more is forgotten")
}

func TestOnTheRingAKilledNodeIsUnreachableInUnderASecond(t *testing.T) {
	w := running(t, 2, 20)
	victim := w.nodes[7]
	victim.stop(false)
	for _, n := range w.nodes {
		require.Empty(t, n.shown.Unreachable())
	}
	w.run(time.Second)
	for _, n := range w.nodes {
		if n != victim {
			require.Len(t, n.shown.Unreachable(), 1)
			require.Len(t, n.shown.UnreachableBy(n.shown.Unreachable()[0].ID()), observersOf)
		}
	}
	w.run(5 * time.Second)
	for _, n := range w.nodes {
		if n != victim {
			require.Len(t, n.shown.Members, 19)
		}
	}
}

func TestAHalfOfTheRingThatDiesTogetherIsNoticedByTheRest(t *testing.T) {
	w := running(t, 3, 30)
	ring := ringOf(w.nodes[0].machine.table.ids())
	dead := ring[:14]
	for _, id := range dead {
		w.node(id.Address).stop(false)
	}
	w.run(4 * time.Second)
	for _, n := range w.nodes {
		if n.machine != nil {
			require.Len(t, n.shown.Unreachable(), len(dead), "observers of all nine were among the dead")
		}
	}
	w.run(4 * time.Second)
	for _, n := range w.nodes {
		if n.machine != nil {
			require.Len(t, n.shown.Members, 16)
		}
	}
}

func TestWhatHeartbeatsCostANodeDoesNotGrowWithTheCluster(t *testing.T) {
	cost := func(size int) float64 {
		w := running(t, 4, size)
		before := w.carried
		w.run(10 * time.Second)
		return float64(w.carried-before) / float64(size) / 10
	}
	for _, size := range []int{13, 30} {
		require.InDelta(t, 2*observersOf*10, cost(size), 1, "messages per node and second, both lanes")
	}
	require.InDelta(t, 2*(allToAll-1)*10, cost(allToAll), 1)
}

func TestTheViewSaysWhoObservesWhom(t *testing.T) {
	w := running(t, 5, 13)
	v := w.nodes[3].shown
	for _, m := range v.Members {
		observers := v.ObserversOf(m.ID())
		require.Len(t, observers, observersOf)
		for _, o := range observers {
			require.Contains(t, w.node(o.Address).machine.dissemination.near.observed, m.ID())
		}
	}
	small := running(t, 5, 3).nodes[0].shown
	require.Len(t, small.ObserversOf(small.Self.ID()), 2)
}

func TestRandomHistoriesOnTheRingEndInOneCluster(t *testing.T) {
	simulateAll(t, histories{
		count:  max(1, effort.Count[uint64](1, 1, 100)/10),
		size:   func(seed uint64) int { return 13 + int(seed%8) },
		faults: 9,
	})
}
