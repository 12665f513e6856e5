package handover

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// A dawn is a cluster whose nodes all start at once: machines without a network below them, in
// virtual time and one goroutine. One node founds the cluster and the others join. Each is up as
// soon as all members know it, as a cluster promises. A node's view is true, and may be late.
// Everything is drawn from the seed.
type dawn struct {
	rng   *rand.Rand
	byAge bool
	now   time.Time
	todo  []dawnEvent
	table []directory.Peer // as it is, in the order in which the nodes got up
	past  [][]directory.Peer
	nodes []*dawnNode

	started, running, peak int
	terms                  map[uint64]bool
}

type dawnNode struct {
	*Machine
	id     remote.NodeID
	seen   int // versions of the table
	joined int // in which version, 0 before
}

type dawnEvent struct {
	at time.Time
	do func()
}

// run plays the first ten seconds.
func (d *dawn) run(n int) {
	d.now = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for i := range n {
		id := remote.NodeID{Address: string(rune('a' + i)), Incarnation: 1}
		node := &dawnNode{Machine: NewMachine(testConfig()), id: id}
		d.nodes = append(d.nodes, node)
		d.soon(200*time.Millisecond, func() { d.join(node) })
	}
	for end := d.now.Add(10 * time.Second); len(d.todo) > 0 && d.now.Before(end); {
		next := 0
		for i, e := range d.todo {
			if e.at.Before(d.todo[next].at) {
				next = i
			}
		}
		e := d.todo[next]
		d.todo = slices.Delete(d.todo, next, next+1)
		d.now = e.at
		e.do()
	}
}

func (d *dawn) soon(most time.Duration, do func()) {
	d.todo = append(d.todo, dawnEvent{d.now.Add(time.Duration(d.rng.Int64N(int64(most)))), do})
}

func (d *dawn) join(n *dawnNode) {
	d.change(func() {
		d.table = append(d.table, directory.Peer{ID: n.id, Up: len(d.table) == 0, Reachable: true})
	})
	n.joined = len(d.past)
	d.soon(50*time.Millisecond, func() { d.look(n) })
	d.soon(50*time.Millisecond, func() { d.promote(n) })
	d.soon(200*time.Millisecond, func() { d.change(func() { d.entry(n).Advertisement = "x" }) })
}

func (d *dawn) entry(n *dawnNode) *directory.Peer {
	return &d.table[slices.IndexFunc(d.table, func(p directory.Peer) bool { return p.ID == n.id })]
}

// promote lets a node be up when all members know that it is joining.
func (d *dawn) promote(n *dawnNode) {
	for _, m := range d.nodes {
		if m.joined > 0 && m.seen < n.joined {
			d.soon(50*time.Millisecond, func() { d.promote(n) })
			return
		}
	}
	d.change(func() {
		p := *d.entry(n)
		p.Up = true
		d.table = slices.DeleteFunc(d.table, func(q directory.Peer) bool { return q.ID == n.id })
		up := slices.IndexFunc(d.table, func(q directory.Peer) bool { return !q.Up })
		if up < 0 {
			up = len(d.table)
		}
		d.table = slices.Insert(d.table, up, p)
	})
}

func (d *dawn) change(f func()) {
	d.table = slices.Clone(d.table)
	f()
	table := slices.Clone(d.table)
	if !d.byAge {
		slices.SortFunc(table, func(p, q directory.Peer) int { return int(p.ID.Address[0]) - int(q.ID.Address[0]) })
	}
	d.past = append(d.past, table)
}

// look shows a node some version that is not older than the last one it has seen, and
// goes on until it has seen the end.
func (d *dawn) look(n *dawnNode) {
	from := max(n.seen, n.joined)
	n.seen = from + d.rng.IntN(len(d.past)-from+1)
	if n.seen > from || n.topo.Self != n.id {
		d.happened(n, Viewed{directory.Topology{Self: n.id, Members: d.past[n.seen-1]}})
	}
	d.soon(50*time.Millisecond, func() { d.look(n) })
}

func (d *dawn) happened(n *dawnNode, ev Event) {
	for _, a := range n.Step(ev, d.now) {
		switch a := a.(type) {
		case Send:
			if _, heldUp := a.Message.(wire.Message[wire.HeldUp]); !heldUp { // it is for people
				d.send(a.Message.Head().To, Received(a))
			}
		case StartInstance:
			d.started++
			d.running++
			d.peak = max(d.peak, d.running)
			d.terms[a.Generation.Term] = true
		case StopInstance:
			d.soon(100*time.Millisecond, func() {
				d.running--
				d.happened(n, InstanceEnded{})
			})
		case SaveRecord, AcquireLease, ReleaseLease, ClaimTerm, ReportStuck: // views and records come later than all this
		}
	}
	if at := n.Wake(); !at.IsZero() {
		d.todo = append(d.todo, dawnEvent{at.Add(max(0, d.now.Sub(at))), func() {
			if due := n.Wake(); !due.IsZero() && !due.After(d.now) {
				d.happened(n, Ticked{})
			}
		}})
	}
}

// send loses one message in five, and doubles one in five.
func (d *dawn) send(to remote.NodeID, ev Event) {
	n := d.nodes[to.Address[0]-'a']
	for range []int{0, 1, 1, 1, 2}[d.rng.IntN(5)] {
		d.soon(100*time.Millisecond, func() {
			if n.topo.Self == n.id {
				d.happened(n, ev)
			}
		})
	}
}

// All nodes start at once, for a
// thousand seeds. It runs the machines of the managers alone. The cluster's own simulation shows
// that one cluster forms. TestNodesThatAllStartAtOnceHaveOneInstance in testkit/clustertest runs
// both together, twenty times.
func TestAllNodesThatStartAtOnceHaveOneInstanceOverAThousandSeeds(t *testing.T) {
	for seed := range uint64(1000) {
		d := &dawn{rng: rand.New(rand.NewPCG(seed, 0)), byAge: seed%2 == 0, terms: map[uint64]bool{}} //nolint:gosec // a schedule, not a secret
		d.run(2 + int(seed%6))
		require.Equal(t, 1, d.peak, "seed %d: how many ran at once", seed)
		require.Equal(t, 1, d.running, "seed %d: how many run in the end", seed)
		require.Len(t, d.terms, d.started, "seed %d: each start has a term of its own", seed)
	}
}
