package services

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/remote"
)

var seed = flag.Uint64("seed", 0, "the seed of the first history; 0 draws one")

// A world has some registries, the messages on their way between them, and the members that each
// node knows.
type world struct {
	rnd   *rand.Rand
	nodes []*simNode
	mail  map[[2]remote.NodeID][]any // in order, by sender's and receiver's incarnation
	trace []string
	inc   uint64
	refs  int
	gone  map[remote.NodeID]bool
}

// A node is a process at an address.
type simNode struct {
	*registry
	id      remote.NodeID
	sees    map[remote.NodeID]bool // the other members, and whether they answer
	removed map[remote.NodeID]bool // never to be seen again
}

func newWorld(seed uint64, n int) *world {
	w := &world{rnd: rand.New(rand.NewPCG(seed, 1)), mail: map[[2]remote.NodeID][]any{}, gone: map[remote.NodeID]bool{}}
	for i := range n {
		w.nodes = append(w.nodes, w.start(fmt.Sprintf("n%d", i+1)))
	}
	return w
}

func (w *world) start(address string) *simNode {
	w.inc++
	n := &simNode{registry: newRegistry(), id: remote.NodeID{Address: address, Incarnation: w.inc}, sees: map[remote.NodeID]bool{}, removed: map[remote.NodeID]bool{}}
	w.look(n)
	return n
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// look shows a node the members that it sees.
func (w *world) look(n *simNode) {
	t := Topology{Self: n.id}
	for _, id := range slices.SortedFunc(maps.Keys(n.sees), remote.NodeID.Compare) {
		t.Peers = append(t.Peers, Peer{ID: id, Reachable: n.sees[id]})
	}
	w.post(n, n.view(t))
}

func (w *world) post(from *simNode, out []envelope) {
	for _, p := range out {
		link := [2]remote.NodeID{from.id, p.to}
		w.mail[link] = append(w.mail[link], p.msg)
	}
}

// deliver delivers the first message of a link to the node that is at the address now.
func (w *world) deliver(link [2]remote.NodeID) {
	msg := w.mail[link][0]
	if w.mail[link] = w.mail[link][1:]; len(w.mail[link]) == 0 {
		delete(w.mail, link)
	}
	for _, n := range w.nodes {
		if n.id.Address == link[1].Address {
			w.post(n, n.receive(msg))
		}
	}
}

func (w *world) links() [][2]remote.NodeID {
	return slices.SortedFunc(maps.Keys(w.mail), func(a, b [2]remote.NodeID) int {
		if c := remote.NodeID.Compare(a[0], b[0]); c != 0 {
			return c
		}
		return remote.NodeID.Compare(a[1], b[1])
	})
}

func (w *world) step() {
	n := w.nodes[w.rnd.IntN(len(w.nodes))]
	switch w.rnd.IntN(20) {
	case 0, 1, 2, 3:
		w.refs++
		e := Entry{Service: fmt.Sprintf("s%d", w.rnd.IntN(3)), Type: "t", Ref: fmt.Sprintf("%s#%d", n.id.Address, w.refs)}
		w.note("%v add %v", n.id, e)
		n.add(e)
	case 4, 5:
		if all := sorted(n.own.entries); len(all) > 0 {
			e := all[w.rnd.IntN(len(all))]
			w.note("%v remove %v", n.id, e)
			n.remove(e)
		}
	case 6, 7:
		w.post(n, n.flush())
	case 8:
		w.note("%v tick", n.id)
		w.post(n, n.tick())
	case 9, 10:
		w.see(n)
	case 11:
		w.restart(n)
	case 12:
		w.rejoin(n)
	case 13:
		for _, link := range w.links() {
			if w.rnd.IntN(3) == 0 {
				w.note("lose all from %v to %v", link[0], link[1])
				delete(w.mail, link)
			}
		}
	default:
		if links := w.links(); len(links) > 0 {
			w.deliver(links[w.rnd.IntN(len(links))])
		}
	}
}

// see changes what a node sees of another one.
func (w *world) see(n *simNode) {
	o := w.nodes[w.rnd.IntN(len(w.nodes))]
	if o == n || n.removed[o.id] {
		return
	}
	_, member := n.sees[o.id]
	switch w.rnd.IntN(4) {
	case 0, 1:
		n.sees[o.id] = true
	case 2:
		n.sees[o.id] = false
	case 3:
		if member && w.gone[o.id] {
			delete(n.sees, o.id)
			n.removed[o.id] = true
		}
	}
	w.note("%v sees %v", n.id, n.sees)
	w.look(n)
}

// restart puts another process at the address.
func (w *world) restart(n *simNode) {
	w.gone[n.id] = true
	i := slices.Index(w.nodes, n)
	w.nodes[i] = w.start(n.id.Address)
	w.note("%v is started again as %v", n.id, w.nodes[i].id)
}

// rejoin makes the process another incarnation.
func (w *world) rejoin(n *simNode) {
	w.gone[n.id] = true
	w.inc++
	old := n.id
	n.id.Incarnation = w.inc
	n.sees = map[remote.NodeID]bool{}
	w.note("%v rejoins as %v", old, n.id)
	w.look(n)
}

// settle lets everybody see everybody, everything arrive, and everyone have two rounds.
func (w *world) settle() {
	for _, n := range w.nodes {
		n.sees = map[remote.NodeID]bool{}
		for _, o := range w.nodes {
			if o != n {
				n.sees[o.id] = true
			}
		}
		w.look(n)
	}
	w.deliverAll()
	for range rounds {
		for _, n := range w.nodes {
			w.post(n, n.tick())
		}
		w.deliverAll()
	}
}

func (w *world) deliverAll() {
	for left := 100_000; ; left-- {
		links := w.links()
		if len(links) == 0 {
			return
		}
		if left == 0 {
			panic("they never stop talking")
		}
		w.deliver(links[w.rnd.IntN(len(links))])
	}
}

func (w *world) check() error {
	for _, n := range w.nodes {
		for name := range n.services {
			for _, f := range n.find(name) {
				if _, member := n.sees[f.Owner]; !member && f.Owner != n.id {
					return fmt.Errorf("%v lists %v of %v, which is no member", n.id, f.Entry, f.Owner)
				}
			}
		}
	}
	return nil
}

// all returns the instances that a node lists.
func (n *simNode) all() map[located]bool {
	all := map[located]bool{}
	for _, instances := range n.services {
		maps.Copy(all, instances)
	}
	return all
}

func TestRandomHistoriesOfRegistriesEndInOneListing(t *testing.T) {
	first := *seed
	if first == 0 {
		first = rand.Uint64() >> 1
	}
	for i := range effort.Count[uint64](300, 300, 3000) {
		if err := simulate(first + i); err != nil {
			t.Fatalf("seed %d: %v", first+i, err)
		}
	}
}

func simulate(seed uint64) error {
	w := newWorld(seed, 2+int(seed%4)) //nolint:gosec // below four
	for range 200 {
		w.step()
		if err := w.check(); err != nil {
			return fmt.Errorf("%w after\n%v", err, w.trace)
		}
	}
	w.settle()
	want := map[located]bool{}
	for _, n := range w.nodes {
		for e := range n.own.entries {
			want[located{n.id, e}] = true
		}
	}
	for _, n := range w.nodes {
		if got := n.all(); !maps.Equal(want, got) {
			return fmt.Errorf("%v lists %v and not %v after\n%v", n.id, got, want, w.trace)
		}
	}
	return nil
}

// A thousand services on each of five nodes, registered one by one.
func TestManyServicesCostAMessageForEachMomentAndPeer(t *testing.T) {
	w := newWorld(1, 5)
	w.settle()
	for _, n := range w.nodes {
		for i := range 1000 {
			n.add(Entry{Service: fmt.Sprintf("s%d", i), Type: "t", Ref: fmt.Sprintf("%s#%d", n.id.Address, i)})
		}
		w.post(n, n.flush())
	}
	sent := 0
	for _, waiting := range w.mail {
		sent += len(waiting)
	}
	require.Equal(t, 5*4, sent)
	w.deliverAll()
	for _, n := range w.nodes {
		require.Len(t, n.find("s7"), 5)
		require.Len(t, n.all(), 5000)
	}
	for range rounds {
		for _, n := range w.nodes {
			w.post(n, n.tick())
		}
	}
	for link, waiting := range w.mail {
		require.LessOrEqual(t, len(waiting), 2, link)
	}
}

func TestWhatIsLostWithoutNoticeIsRepairedWithinHalfAMinute(t *testing.T) {
	require.Equal(t, 30*time.Second, rounds*tickEvery)
	w := newWorld(1, 20)
	w.settle()
	for _, n := range w.nodes {
		n.add(Entry{Service: "s", Type: "t", Ref: n.id.Address})
		n.flush() // and nothing arrives
	}
	for range rounds {
		for _, n := range w.nodes {
			w.post(n, n.tick())
		}
		w.deliverAll()
	}
	for _, n := range w.nodes {
		require.Len(t, n.find("s"), 20)
	}
}

func TestNodesWhoseRowsAreLostDoNotCheckEachOtherWithoutEnd(t *testing.T) {
	w := newWorld(1, 2)
	a, b := w.nodes[0], w.nodes[1]
	a.add(Entry{Service: "s", Ref: "a"})
	b.add(Entry{Service: "s", Ref: "b"})
	a.flush()
	b.flush()
	a.view(Topology{Self: a.id, Peers: []Peer{{ID: b.id}}})
	b.view(Topology{Self: b.id, Peers: []Peer{{ID: a.id}}})
	checks := 0
	for round := range 3 {
		out := a.tick()
		for from, to := a, b; len(out) > 0; from, to = to, from {
			require.Less(t, checks, 10*(round+1), "each round ends")
			var answers []envelope
			for _, p := range out {
				if _, check := p.msg.(wireCheck); check { // all else is lost
					checks++
					answers = append(answers, to.receive(p.msg)...)
				}
			}
			out = answers
		}
		require.Greater(t, checks, round, "and there is another one")
	}
}

func TestWhoIsHeardOfBeforeItIsSeenIsAskedWhenItIsSeen(t *testing.T) {
	w := newWorld(1, 2)
	a, b := w.nodes[0], w.nodes[1]
	a.add(Entry{Service: "s", Type: "t", Ref: "a"})
	a.flush()
	a.sees[b.id] = true
	w.look(a)
	w.deliverAll()
	require.Empty(t, b.find("s"))
	b.sees[a.id] = true
	w.look(b)
	w.deliverAll()
	require.Len(t, b.find("s"), 1, "without waiting for a tick")
}

func TestARowOfManyPartsCountsWhenAllHaveCome(t *testing.T) {
	w := newWorld(1, 2)
	a, b := w.nodes[0], w.nodes[1]
	const entries = 150
	for i := range entries {
		a.add(Entry{Service: "s", Type: "t", Ref: strings.Repeat("x", 1000) + fmt.Sprint(i)})
	}
	a.flush()
	parts := a.snapshotFor(b.id)
	require.Len(t, parts, 3)
	b.sees[a.id] = true
	w.look(b)
	b.receive(parts[0].msg)
	b.receive(parts[2].msg)
	b.receive(parts[1].msg)
	require.Empty(t, b.find("s"), "one was missing in between")
	for _, p := range parts {
		b.receive(p.msg)
	}
	require.Len(t, b.find("s"), entries)
}

func TestANodeThatHasNothingRegisteredSendsNothing(t *testing.T) {
	w := newWorld(1, 5)
	w.settle()
	require.Empty(t, w.mail)
	for _, n := range w.nodes {
		require.True(t, n.quiet())
		require.Empty(t, n.tick())
	}
}
