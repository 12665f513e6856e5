package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
)

// A rig is one machine with a clock, and the actions since the last question.
type rig struct {
	*Machine
	clock time.Time
	said  []Action
}

func id(address string, incarnation uint64) ID {
	return ID{Address: address, Incarnation: incarnation}
}

// newRig starts the machine of a node n1:1 with some seeds.
func newRig(tune func(*Settings), seeds ...string) *rig {
	set := Settings{
		Self:       Member{Name: "n1", Address: "n1:1", Incarnation: 1},
		Seeds:      seeds,
		Founding:   ClusterID{1},
		MinMembers: 1,
		Detector:   LAN(),
		Downing:    downing.KeepMajority{},
		Leader:     Oldest(),
		Rejoin:     true,
	}
	if tune != nil {
		tune(&set)
	}
	r := &rig{Machine: New(set), clock: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	r.happens(Started{})
	return r
}

func (r *rig) happens(ev Input) { r.said = append(r.said, r.Step(ev, r.clock)...) }

func (r *rig) hears(from ID, msg message) { r.happens(Received{From: from, msg: msg}) }

func (r *rig) wait(d time.Duration) {
	for end := r.clock.Add(d); r.clock.Before(end); {
		r.clock = r.clock.Add(50 * time.Millisecond)
		r.happens(Ticked{})
	}
}

// told returns the messages of one kind that were sent to an address since the last call.
func told[M message](r *rig, address string) []M {
	var all []M
	for _, a := range r.said {
		if s, ok := a.(Send); ok && s.To.Address == address {
			if msg, ok := s.msg.(M); ok {
				all = append(all, msg)
			}
		}
	}
	r.said = nil
	return all
}

// ending returns the End action of the incarnation.
func (r *rig) ending() End {
	for _, a := range r.said {
		if e, ok := a.(End); ok {
			return e
		}
	}
	panic("not ended")
}

// asks makes a node ask to join, and returns the answer.
func (r *rig) asks(from ID, req joinRequest) joinAnswer {
	req.Agreement = r.set.agreement()
	r.said = nil
	r.hears(from, req)
	answers := told[joinAnswer](r, from.Address)
	if len(answers) != 1 {
		panic("no answer")
	}
	return answers[0]
}

// joins makes a node a member, and up.
func (r *rig) joins(from ID, name string) {
	r.asks(from, joinRequest{Name: name})
	r.agrees()
}

// agrees makes all other members say that they have the same table as this one.
func (r *rig) agrees() {
	for range 3 {
		for _, other := range r.others() {
			r.hears(other, heartbeat{
				Cluster: r.table.cluster,
				Seq:     uint64(r.clock.UnixNano()),
				Stream:  true,
				Members: r.sums.members,
				All:     r.sums.all,
				Seen:    make([]byte, len(r.seenBy.bits)),
			})
		}
	}
}

func TestTheFirstSeedFoundsWhenAllOthersHaveSaidNo(t *testing.T) {
	r := newRig(nil, "n1:1", "n2:1", "n3:1")
	r.hears(id("n2:1", 2), joinAnswer{To: "n2:1", Verdict: notMember})
	require.Equal(t, phaseJoining, r.phase)
	r.happens(DialFailed{Address: "n3:1", Refused: true})
	require.Equal(t, phaseMember, r.phase)
	require.Equal(t, Up, r.table.status(r.self))
	require.Equal(t, uint64(1), r.table.members[r.self].UpNumber)
}

func TestAnOldNoDoesNotCount(t *testing.T) {
	r := newRig(nil, "n1:1", "n2:1", "n3:1")
	r.hears(id("n2:1", 2), joinAnswer{To: "n2:1", Verdict: notMember})
	r.wait(2 * answerHolds)
	r.happens(DialFailed{Address: "n3:1", Refused: true})
	require.Equal(t, phaseJoining, r.phase, "n2 may have joined in the meantime")
}

func TestOtherSeedsNeverFound(t *testing.T) {
	r := newRig(nil, "n2:1", "n1:1")
	for range 10 {
		r.happens(DialFailed{Address: "n2:1", Refused: true})
		r.wait(time.Second)
	}
	require.Equal(t, phaseJoining, r.phase)
}

func TestASeedMayBeThisNodeUnderAnotherName(t *testing.T) {
	r := newRig(nil, "localhost:1")
	require.Equal(t, phaseJoining, r.phase)
	r.hears(r.self, joinRequest{To: "localhost:1"})
	require.Equal(t, phaseMember, r.phase)
}

func TestANodeThatWasAMemberFoundsOnlyWhenItsOldPeersSayNo(t *testing.T) {
	r := newRig(func(set *Settings) { set.Known = []string{"n2:1"} }, "n1:1")
	r.wait(time.Minute)
	require.Equal(t, phaseJoining, r.phase, "n2 may go on with the cluster")
	r.hears(id("n2:1", 2), joinAnswer{To: "n2:1", Verdict: notMember})
	require.Equal(t, phaseMember, r.phase)
}

func TestASeekerAsksWhoGreetsIt(t *testing.T) {
	r := newRig(nil, "n2:1")
	r.said = nil
	r.hears(id("n9:1", 9), greeting{Cluster: ClusterID{9}, Size: 1})
	require.Len(t, told[joinRequest](r, "n9:1"), 1)
}

func TestALateRequestCannotReplaceALaterIncarnation(t *testing.T) {
	r := newRig(nil)
	r.joins(id("n2:1", 20), "n2")
	require.Equal(t, Up, r.table.status(id("n2:1", 20)))

	late := r.asks(id("n2:1", 19), joinRequest{Name: "n2"})
	require.Equal(t, replace, late.Verdict)
	require.Equal(t, []uint64{20}, late.Replaces)
	require.Equal(t, Up, r.table.status(id("n2:1", 20)), "nothing has happened to it")

	next := r.asks(id("n2:1", 21), joinRequest{Name: "n2", Replaces: []uint64{20}})
	require.Equal(t, welcome, next.Verdict, "a node that has heard of it was started after it")
	require.Equal(t, Removed, r.table.status(id("n2:1", 20)))
	require.True(t, r.table.tombstones[id("n2:1", 20)].Clean)
	require.Equal(t, buried, r.asks(id("n2:1", 20), joinRequest{Name: "n2"}).Verdict)
}

func TestAWelcomeThatWasLostIsGivenAgain(t *testing.T) {
	r := newRig(nil)
	require.Equal(t, welcome, r.asks(id("n2:1", 2), joinRequest{Name: "n2"}).Verdict)
	require.Equal(t, welcome, r.asks(id("n2:1", 2), joinRequest{Name: "n2"}).Verdict)
	require.Len(t, r.table.members, 2)
}

func TestNobodyIsPromotedWhileSomebodyIsUnreachable(t *testing.T) {
	r := newRig(nil)
	r.joins(id("n2:1", 2), "n2")
	r.wait(time.Second * 2) // n2 is silent
	require.Len(t, r.table.unreachable(), 1)
	r.asks(id("n3:1", 3), joinRequest{Name: "n3"})
	r.agrees()
	require.Equal(t, Joining, r.table.status(id("n3:1", 3)))
	r.wait(50 * time.Millisecond)
	require.Empty(t, r.table.unreachable())
	r.agrees()
	require.Equal(t, Up, r.table.status(id("n3:1", 3)))
}

// joiningRig returns a rig that n2 has admitted.
func joiningRig() *rig {
	r := newRig(nil, "n2:1")
	other := newTable(ClusterID{7})
	other.members[id("n2:1", 2)] = Member{Name: "n2", Address: "n2:1", Incarnation: 2, Status: Up, UpNumber: 1}
	other.members[r.self] = Member{Name: "n1", Address: "n1:1", Incarnation: 1, Status: Joining}
	r.hears(id("n2:1", 2), joinAnswer{To: "n2:1", Verdict: welcome, Table: other.pack()})
	return r
}

func TestANodeActsAsUpOnlyWithAWholeTable(t *testing.T) {
	r := joiningRig()
	change := r.change()
	change.members[r.self] = Member{Name: "n1", Address: "n1:1", Incarnation: 1, Status: Up, UpNumber: 2, Downing: r.set.Self.Downing}
	r.hears(id("n2:1", 2), tablePush{Table: change.pack()})
	require.Equal(t, Up, r.table.status(r.self))
	require.Equal(t, Joining, r.view().Self.Status, "there may be others up that it does not know")
	require.Equal(t, busy, r.asks(id("n3:1", 3), joinRequest{Name: "n3"}).Verdict)

	r.hears(id("n2:1", 2), tablePush{Whole: true, Table: r.table.pack()})
	require.Equal(t, Up, r.view().Self.Status)
	require.Equal(t, welcome, r.asks(id("n3:1", 3), joinRequest{Name: "n3"}).Verdict)
}

func TestADifferenceIsMadeGoodByAPull(t *testing.T) {
	r := joiningRig()
	beat := func(seq uint64) heartbeat {
		return heartbeat{Cluster: r.table.cluster, Seq: seq, Stream: true, Members: 99, All: 99}
	}
	r.said = nil
	r.hears(id("n2:1", 2), beat(1))
	require.Empty(t, told[tablePull](r, "n2:1"), "the news may be on the way")
	r.hears(id("n2:1", 2), beat(2))
	require.Len(t, told[tablePull](r, "n2:1"), 1)

	r.hears(id("n2:1", 2), tablePull{})
	pushes := told[tablePush](r, "n2:1")
	require.Len(t, pushes, 1)
	require.True(t, pushes[0].Whole)
}

func TestAZombieIsTold(t *testing.T) {
	r := newRig(nil)
	r.joins(id("n2:1", 2), "n2")
	r.happens(DownAsked{Name: "n2"})
	r.said = nil
	r.hears(id("n2:1", 2), heartbeat{Cluster: r.table.cluster, Seq: 1})
	require.Len(t, told[youAreDown](r, "n2:1"), 1)
}

func TestAForgottenOneIsToldAfterAWhile(t *testing.T) {
	r := newRig(nil)
	r.said = nil
	stranger := id("n2:1", 2)
	r.hears(stranger, heartbeat{Cluster: r.table.cluster, Seq: 1})
	require.Empty(t, told[youAreDown](r, "n2:1"), "it may have joined through somebody else")
	r.wait(unknownFor)
	r.hears(stranger, heartbeat{Cluster: r.table.cluster, Seq: 2})
	require.Len(t, told[youAreDown](r, "n2:1"), 1)
}

func TestADownedNodeStopsWhatItRunsBeforeItBeginsAnew(t *testing.T) {
	r := joiningRig()
	r.said = nil
	proof := newTable(ClusterID{7})
	proof.members[id("n2:1", 2)] = r.table.members[id("n2:1", 2)]
	proof.tombstones[r.self] = tombstone{At: 1}
	r.hears(id("n2:1", 2), youAreDown{Table: proof.pack()})
	require.Equal(t, phaseDowned, r.phase)
	require.IsType(t, Publish{}, r.said[len(r.said)-2])
	require.IsType(t, Drain{}, r.said[len(r.said)-1], "after it has been made known")
	require.Equal(t, busy, r.asks(id("n3:1", 3), joinRequest{Name: "n3"}).Verdict)
	r.wait(time.Hour)
	require.Equal(t, phaseDowned, r.phase, "however long that takes")

	r.happens(Drained{})
	require.Len(t, told[gone](r, "n2:1"), 1)
	r.hears(id("n2:1", 2), goneSeen{})
	r.wait(departPatience)
	require.Equal(t, phaseEnded, r.phase)
	last := r.ending()
	require.True(t, last.Rejoin)
	require.Equal(t, []string{"n2:1"}, last.Known)
}

func TestOfTwoPartsThatHaveRemovedEachOtherTheSmallerDissolves(t *testing.T) {
	// n1 has removed n4; n4's part has removed n1.
	with := func(others ...string) *rig {
		r := newRig(nil)
		r.joins(id("n4:1", 4), "n4")
		for i, name := range others {
			r.joins(id(name, uint64(100+i)), name)
		}
		change := r.change()
		change.tombstones[id("n4:1", 4)] = tombstone{At: 1}
		r.decide(change)
		r.settle()
		r.said = nil
		return r
	}
	theirs := func(cluster ClusterID, size int) youAreDown {
		t := newTable(cluster)
		t.tombstones[id("n1:1", 1)] = tombstone{At: 1}
		for i := range size {
			m := Member{Address: string(rune('4'+i)) + ":1", Incarnation: 4, Status: Up}
			t.members[m.ID()] = m
		}
		return youAreDown{Table: t.pack()}
	}
	small := with()
	small.hears(id("n4:1", 4), theirs(small.table.cluster, 2))
	require.Equal(t, phaseDowned, small.phase)

	large := with("n2:1", "n3:1")
	large.hears(id("n4:1", 4), theirs(large.table.cluster, 2))
	require.Equal(t, phaseMember, large.phase)
	require.Len(t, told[youAreDown](large, "n4:1"), 1, "so that the other part learns of it")
}

func TestOfTwoClustersTheSmallerDissolves(t *testing.T) {
	r := newRig(nil)
	r.joins(id("n2:1", 2), "n2")
	r.said = nil
	r.hears(id("n9:1", 9), greeting{Cluster: ClusterID{9}, Size: 1})
	require.Equal(t, phaseMember, r.phase)
	require.Len(t, told[greeting](r, "n9:1"), 1)
	r.hears(id("n9:1", 9), greeting{Cluster: ClusterID{0}, Size: 2})
	require.Equal(t, phaseDowned, r.phase, "of equal ones that with the greater ID")
	require.Len(t, told[dissolve](r, "n2:1"), 1)
}

func TestWhatTheDownedSayChangesNothing(t *testing.T) {
	r := newRig(nil)
	r.joins(id("n2:1", 2), "n2")
	r.happens(DownAsked{Name: "n2"})
	change := r.change()
	change.tombstones[r.self] = tombstone{At: 1}
	r.hears(id("n2:1", 2), tablePush{Table: change.pack()})
	r.happens(Gossiped{tablePush{From: id("n2:1", 2), Table: change.pack()}})
	require.Equal(t, Up, r.table.status(r.self))
}

func TestTombsAreForgottenAfterADay(t *testing.T) {
	r := newRig(nil)
	r.joins(id("n2:1", 2), "n2")
	r.hears(id("n2:1", 2), gone{})
	require.Len(t, r.table.tombstones, 1)
	r.clock = r.clock.Add(tombstoneFor - time.Minute)
	r.wait(time.Second)
	require.Len(t, r.table.tombstones, 1)
	r.clock = r.clock.Add(2 * time.Minute)
	r.wait(time.Second)
	require.Empty(t, r.table.tombstones)
}

// The calendar of the node that has removed a member may be years behind, as without a battery.
func TestATombIsKeptForSomeTimeWhateverItsDate(t *testing.T) {
	r := newRig(func(set *Settings) { set.Downing = downing.Manual{} })
	n2, n3 := id("n2:1", 2), id("n3:1", 3)
	r.joins(n2, "n2")
	r.joins(n3, "n3")
	before := r.table.pack()
	change := r.change()
	change.tombstones[n3] = tombstone{At: 1}
	r.hears(n2, tablePush{Table: change.pack()})
	r.wait(time.Minute)
	require.Len(t, r.view().gone, 1, "something may still run there")
	r.hears(n2, tablePush{Table: before})
	require.Equal(t, Removed, r.table.status(n3), "no late news revives it")
	r.clock = r.clock.Add(tombstoneAtLeast)
	r.wait(time.Second)
	require.Empty(t, r.table.tombstones)
}

func TestHeartbeatsKeepTheirRhythmOverUnpunctualTicks(t *testing.T) {
	r := joiningRig()
	start := r.clock
	var beats []time.Duration
	for i := range 90 {
		r.said = nil
		r.clock = start.Add(time.Duration(i)*50*time.Millisecond + time.Duration(i*7919%13-6)*time.Millisecond)
		r.happens(Ticked{})
		for _, a := range r.said {
			if _, ok := a.(Beat); ok {
				beats = append(beats, r.clock.Sub(start))
			}
		}
	}
	require.Len(t, beats, 45)
	for i := 1; i < len(beats); i++ {
		require.InDelta(t, 100, (beats[i] - beats[i-1]).Milliseconds(), 13)
	}
}
