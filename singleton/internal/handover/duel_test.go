package handover

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
)

// An arena is some machines and one journal in virtual time. The test decides what the nodes know
// of the cluster, and so on which side each is. Unlike in a sim, two sides may have removed each
// other.
type arena struct {
	t       *testing.T
	rng     *rand.Rand
	now     time.Time
	queue   simQueue
	nodes   []*fighter
	journal ledgerModel
	starts  []tenure.Generation // of each side's host, in order
}

// A ledgerModel is a journal of one id as its contract says: it knows the highest epoch.
type ledgerModel struct {
	epoch    uint64
	log      []modelRecord
	rejected int
	claims   int
	mute     int // the number of answers to come that are lost
}

type modelRecord struct {
	epoch uint64
	seq   int
	what  string // unique
}

// A fighter is one node of an arena, with the instance that runs there.
type fighter struct {
	*arena
	machine  *Machine
	id       remote.NodeID
	gen      tenure.Generation // zero: no instance runs
	epoch    uint64            // of its claim
	seen     int               // records that it has replayed or written
	count    int
	pausedTo time.Time
}

func newArena(t *testing.T, seed uint64, nodes int) *arena {
	t.Helper()
	a := &arena{t: t, rng: rand.New(rand.NewPCG(seed, 0)), now: simBegin} //nolint:gosec // a schedule, not a secret
	for i := range nodes {
		cfg := testConfig()
		cfg.Restart = actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second}
		a.nodes = append(a.nodes, &fighter{arena: a, machine: NewMachine(cfg), id: remote.NodeID{Address: string(rune('a' + i)), Incarnation: 1}})
	}
	return a
}

func (a *arena) in(d time.Duration, do func()) {
	a.queue.push(simEvent{at: a.now.Add(d).Sub(simBegin), order: a.rng.Uint64(), do: do})
}

func (a *arena) run(d time.Duration) {
	for end := a.now.Add(d); ; {
		if len(a.queue) == 0 || a.queue[0].at > end.Sub(simBegin) {
			a.now = end
			return
		}
		next := a.queue.pop()
		a.now = simBegin.Add(next.at)
		next.do()
	}
}

// side tells nodes that they are a cluster. The other nodes are gone without a sign that they have
// ended. The first node is elected first.
func (a *arena) side(members ...*fighter) {
	records := wire.Record{}
	for _, n := range members {
		records = records.Merge(n.machine.terms.known)
	}
	for _, n := range members {
		topo := directory.Topology{Self: n.id, Margin: simMargin, Record: records}
		for _, m := range members {
			topo.Members = append(topo.Members, directory.Peer{ID: m.id, Up: true, Reachable: true, Advertisement: "x"})
		}
		for _, m := range a.nodes {
			if !slices.Contains(members, m) {
				topo.Gone = append(topo.Gone, directory.Gone{Peer: directory.Peer{ID: m.id, Advertisement: "x"}, Since: a.now})
			}
		}
		n.happens(Viewed{topo})
	}
}

// dissolve tells nodes that they are down, and gives them new incarnations.
func (a *arena) dissolve(members ...*fighter) {
	for _, n := range members {
		topo := n.machine.topo
		topo.Down = true
		n.happens(Viewed{topo})
		n.id.Incarnation++
	}
}

func (n *fighter) asleep() time.Duration { return n.pausedTo.Sub(n.now) }

// occur makes something happen to the process, once it is awake.
func (n *fighter) occur(do func()) {
	if d := n.asleep(); d > 0 {
		n.in(d, func() { n.occur(do) })
		return
	}
	do()
}

func (n *fighter) happens(ev Event) {
	n.occur(func() {
		for _, a := range n.machine.Step(ev, n.now) {
			n.do(a)
		}
		if at := n.machine.Wake(); !at.IsZero() {
			n.in(max(0, at.Sub(n.now)), func() {
				if w := n.machine.Wake(); !w.IsZero() && !w.After(n.now) {
					n.happens(Ticked{})
				}
			})
		}
	})
}

func (n *fighter) do(a Action) {
	switch a := a.(type) {
	case Send:
		if _, heldUp := a.Message.(wire.Message[wire.HeldUp]); !heldUp { // it is for people
			n.send(a.Message.Head().To, Received(a))
		}
	case StartInstance:
		n.gen, n.epoch = a.Generation, 0
		n.starts = append(n.starts, a.Generation)
		n.in(n.slow(), func() { n.ifStill(a.Generation, n.claim) })
	case StopInstance:
		gen := n.gen
		n.in(n.slow(), func() { n.ifStill(gen, func() { n.ends(false) }) })
	case SaveRecord:
		n.spread(a.Record)
	case AcquireLease, ReleaseLease, ClaimTerm, ReportStuck: // there is no lease, source or stuck instance
	}
}

// spread tells the members of its side the record.
func (n *fighter) spread(r wire.Record) {
	for _, other := range n.nodes {
		if _, member := n.machine.topo.Member(other.id); member {
			n.in(n.slow(), func() {
				topo := other.machine.topo
				topo.Record = topo.Record.Merge(r)
				other.happens(Viewed{topo})
			})
		}
	}
}

func (n *fighter) slow() time.Duration {
	return time.Duration(n.rng.Int64N(int64(50 * time.Millisecond)))
}

func (n *fighter) send(to remote.NodeID, ev Event) {
	for _, other := range n.nodes {
		if other.id == to {
			n.in(n.slow(), func() { other.happens(ev) })
		}
	}
}

func (n *fighter) ifStill(gen tenure.Generation, do func()) {
	n.occur(func() {
		if n.gen == gen {
			do()
		}
	})
}

func (n *fighter) ends(fenced bool) {
	n.gen = tenure.Generation{}
	ev := InstanceEnded{Fenced: fenced}
	if fenced {
		ev.FencedBy = tenure.Unpack(n.journal.epoch).Term
	}
	n.happens(ev)
}

// claim takes the next epoch of the term, replays, and begins to write. It is refused if a later
// term has claimed.
func (n *fighter) claim() {
	least, err := n.gen.Packed()
	require.NoError(n.t, err)
	n.journal.claims++
	if tenure.Unpack(n.journal.epoch).Term > n.gen.Term {
		n.ends(true)
		return
	}
	n.journal.epoch = max(n.journal.epoch+1, least)
	n.epoch, n.seen = n.journal.epoch, len(n.journal.log)
	n.happens(FenceHeld{Started: n.gen, Raised: n.gen})
	n.writeOn()
}

func (n *fighter) writeOn() {
	gen := n.gen
	n.in(20*time.Millisecond+n.slow(), func() { n.ifStill(gen, n.write) })
}

// write checks the instance's belief, and acts on it a moment later, whatever has happened
// meanwhile: the journal decides.
func (n *fighter) write() {
	gen, record := n.gen, modelRecord{n.epoch, n.seen, fmt.Sprintf("%s-%d", n.id.Address, n.count)}
	n.count++
	n.in(n.slow(), func() {
		n.occur(func() {
			switch n.append(record) {
			case accepted:
				n.ifStill(gen, func() { n.seen++; n.writeOn() })
			case fencedOff:
				n.ifStill(gen, func() { n.ends(true) })
			case noAnswer: // a new instance finds out
				n.ifStill(gen, func() { n.ends(false) })
			}
		})
	})
}

type answer int

const (
	accepted answer = iota
	fencedOff
	noAnswer
)

// append is what the journal does: it accepts no append under an epoch that is not the highest.
func (n *fighter) append(r modelRecord) answer {
	j := &n.journal
	if r.epoch < j.epoch {
		j.rejected++
		return fencedOff
	}
	require.Equal(n.t, len(j.log), r.seq, "%s writes without having seen all that is there", n.id.Address)
	j.log = append(j.log, r)
	if j.mute > 0 {
		j.mute--
		return noAnswer
	}
	return accepted
}

// requireSound checks this over the whole log: epochs never fall, and nothing is there twice.
func (a *arena) requireSound() {
	a.t.Helper()
	seen, epoch := map[string]bool{}, uint64(0)
	for i, r := range a.journal.log {
		require.Equal(a.t, i, r.seq)
		require.GreaterOrEqual(a.t, r.epoch, epoch)
		require.False(a.t, seen[r.what], "%s is there twice", r.what)
		seen[r.what], epoch = true, r.epoch
	}
}

func (a *arena) running() (on []string) {
	for _, n := range a.nodes {
		if n.gen != (tenure.Generation{}) {
			on = append(on, n.id.Address)
		}
	}
	return on
}

// Two sides survive, and each has an instance that writes to the one journal. The
// journal accepts writes from one at a time, and the duel backs off. 5 s after the smaller side has
// dissolved there is one instance, whose generation is above all before it.
func TestTwoSidesWithOneJournalCorruptNothing(t *testing.T) {
	for seed := range uint64(50) {
		a := newArena(t, seed, 5)
		n := a.nodes
		a.side(n...)
		a.run(time.Second)
		require.Equal(t, []string{"a"}, a.running())
		a.side(n[0], n[3])
		a.side(n[1], n[2], n[4])
		a.run(2 * time.Second)
		require.Positive(t, a.journal.rejected, "seed %d: they fence each other off", seed)
		claims := a.journal.claims
		a.run(20 * time.Second)
		require.Less(t, a.journal.claims-claims, 40, "seed %d: ever more seldom", seed)
		a.requireSound()

		a.dissolve(n[0], n[3])
		a.run(100 * time.Millisecond)
		a.side(n[1], n[2], n[4], n[0], n[3])
		a.run(4900 * time.Millisecond)
		require.Equal(t, []string{"b"}, a.running(), "seed %d", seed)
		written, rejected := len(a.journal.log), a.journal.rejected
		a.run(5 * time.Second)
		require.Greater(t, len(a.journal.log), written, "seed %d: it works", seed)
		require.Equal(t, rejected, a.journal.rejected, "seed %d: undisturbed", seed)
		a.requireSound()
		a.requireSettledAbove()
	}
}

// requireSettledAbove: the generation that runs is not below any that has been started.
func (a *arena) requireSettledAbove() {
	a.t.Helper()
	for _, n := range a.nodes {
		for _, gen := range a.starts {
			if n.gen != (tenure.Generation{}) {
				require.False(a.t, n.gen.Less(gen), "%v runs, and %v has been", n.gen, gen)
			}
		}
	}
}

// The host sleeps for half a minute between a check and the act that follows from it.
// Meanwhile another node hosts. The act is rejected, and the old instance ends within 0.2 s of
// waking up.
func TestAnActAfterALongSleepIsRejected(t *testing.T) {
	for seed := range uint64(50) {
		a := newArena(t, seed, 3)
		n := a.nodes
		a.side(n...)
		a.run(time.Second + time.Duration(seed)*7*time.Millisecond)
		require.Equal(t, []string{"a"}, a.running())
		n[0].pausedTo = a.now.Add(30 * time.Second)
		a.run(4 * time.Second)
		written := len(a.journal.log)
		a.side(n[1], n[2]) // downed and removed
		a.run(500 * time.Millisecond)
		require.Equal(t, []string{"a", "b"}, a.running(), "seed %d: nothing margins what is fenced", seed)
		a.run(20 * time.Second)
		require.Greater(t, len(a.journal.log), written)
		require.Zero(t, a.journal.rejected)
		a.run(n[0].pausedTo.Sub(a.now) - time.Nanosecond)
		a.dissolve(n[0]) // as the others tell it, once it can hear
		a.run(200 * time.Millisecond)
		require.Equal(t, []string{"b"}, a.running(), "seed %d", seed)
		require.LessOrEqual(t, a.journal.rejected, 1)
		a.side(n[1], n[2], n[0])
		a.run(10 * time.Second)
		require.Equal(t, []string{"b"}, a.running(), "it returns as another, and takes nothing over")
		a.requireSound()
		a.requireSettledAbove()
	}
}

// The answer to an append is lost. A new instance, with a new epoch, replays what is
// there, and no record is stored twice.
func TestAnAnswerThatIsLostBringsANewEpochAndNoDuplicate(t *testing.T) {
	for seed := range uint64(50) {
		a := newArena(t, seed, 3)
		a.side(a.nodes...)
		a.run(time.Second)
		epoch, term := a.journal.epoch, a.starts[0].Term
		a.journal.mute = 3
		a.run(10 * time.Second)
		require.Zero(t, a.journal.mute)
		require.Equal(t, epoch+3, a.journal.epoch)
		require.Equal(t, []string{"a"}, a.running())
		require.Zero(t, a.journal.rejected)
		for i, gen := range a.starts {
			require.Equal(t, tenure.Generation{Term: term, Seq: uint64(i + 1)}, gen, "in place")
		}
		a.requireSound()
	}
}
