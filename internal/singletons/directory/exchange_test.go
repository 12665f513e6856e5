package directory

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// An exchangeRig is some directories and the links between them, which are first in, first out, and
// may lose messages.
type exchangeRig struct {
	rng   *rand.Rand
	lossy bool
	ids   []remote.NodeID
	nodes map[remote.NodeID]*Directory
	gone  []Gone
	links map[[2]remote.NodeID][]wire.Any
}

func newExchangeRig(seed uint64, n int) *exchangeRig {
	r := &exchangeRig{rng: rand.New(rand.NewPCG(seed, seed)), nodes: map[remote.NodeID]*Directory{}, links: map[[2]remote.NodeID][]wire.Any{}}
	for i := range n {
		r.join(fmt.Sprintf("n%d", i+1))
	}
	return r
}

func (r *exchangeRig) join(name string) remote.NodeID {
	id := remote.NodeID{Address: name, Incarnation: 1}
	r.ids = append(r.ids, id)
	r.nodes[id] = New()
	r.showAll()
	return id
}

func (r *exchangeRig) crash(id remote.NodeID) {
	r.ids = removed(r.ids, id)
	r.gone = append(r.gone, Gone{Peer: Peer{ID: id}, Since: time.Unix(0, 0)})
	delete(r.nodes, id)
	r.showAll()
}

func removed(all []remote.NodeID, id remote.NodeID) (left []remote.NodeID) {
	for _, each := range all {
		if each != id {
			left = append(left, each)
		}
	}
	return left
}

func (r *exchangeRig) showAll() {
	for _, id := range r.ids {
		topo := Topology{Self: id, Gone: r.gone}
		for i, other := range r.ids {
			topo.Members = append(topo.Members, Peer{ID: other, Up: true, UpNumber: uint64(i + 1), Reachable: true})
		}
		r.send(id, append(r.nodes[id].Flush(), r.nodes[id].View(topo)...))
	}
}

func (r *exchangeRig) send(from remote.NodeID, messages []wire.Any) {
	for _, msg := range messages {
		if r.lossy && r.rng.IntN(4) == 0 {
			continue
		}
		link := [2]remote.NodeID{from, msg.Head().To}
		r.links[link] = append(r.links[link], msg)
	}
}

// carry delivers some of what is on its way, or all.
func (r *exchangeRig) carry(all bool) {
	for again := true; again; {
		again = false
		for _, from := range r.ids {
			for _, to := range r.ids {
				link := [2]remote.NodeID{from, to}
				for len(r.links[link]) > 0 && (all || r.rng.IntN(2) == 0) {
					msg := r.links[link][0]
					r.links[link] = r.links[link][1:]
					r.send(to, append(r.nodes[to].Flush(), r.nodes[to].Receive(msg)...))
					again = all
				}
			}
		}
	}
}

func (r *exchangeRig) tick() {
	for _, id := range r.ids {
		r.send(id, append(r.nodes[id].Flush(), r.nodes[id].Tick()...))
	}
	r.carry(true)
}

// settle stops the loss of messages, and lets each node compare with each other twice.
func (r *exchangeRig) settle() {
	r.lossy = false
	for range 3 * rounds {
		r.tick()
	}
}

func (r *exchangeRig) do() {
	d := r.nodes[r.ids[r.rng.IntN(len(r.ids))]]
	name := fmt.Sprintf("s%d", r.rng.IntN(30))
	switch r.rng.IntN(3) {
	case 0:
		d.Advertise(Advertise(name, fmt.Sprintf("v=%d", r.rng.IntN(2))))
	case 1:
		d.Withdraw(name)
	case 2:
		d.SetRecord(name, wire.Record{Term: r.rng.Uint64N(20), Fenced: r.rng.IntN(2) == 0, Finished: r.rng.IntN(10) == 0})
	}
}

func (r *exchangeRig) requireAgreement(t *testing.T) {
	first := r.nodes[r.ids[0]]
	for _, id := range r.ids {
		d := r.nodes[id]
		require.True(t, d.learned)
		require.Equal(t, first.records, d.records)
		require.Equal(t, first.sum, d.sum)
		for _, other := range r.ids {
			if other != id {
				require.Equal(t, r.nodes[other].own, d.peers[other].row)
				require.Equal(t, d.own.version, r.nodes[other].peers[id].version)
			}
		}
	}
}

// Whatever messages are lost, all nodes know the same in the end, even if a node told only some of
// the others before it died.
func TestAllNodesKnowWhatEachHasManagersForInTheEnd(t *testing.T) {
	for seed := range uint64(300) {
		r := newExchangeRig(seed, 4)
		r.carry(true)
		r.lossy = true
		for range 60 {
			r.do()
			r.carry(false)
			if r.rng.IntN(8) == 0 {
				r.tick()
			}
		}
		if seed%2 == 0 {
			r.crash(r.ids[r.rng.IntN(4)])
			r.join("late")
		}
		r.settle()
		r.requireAgreement(t)
	}
}

// The news of one singleton do not grow with the number of singletons.
func TestASingletonCostsTheSameHoweverManyThereAre(t *testing.T) {
	cost := func(many int) (bytes int) {
		r := newExchangeRig(1, 3)
		for i := range many {
			r.nodes[r.ids[0]].Advertise(fmt.Sprintf("other%d", i))
		}
		r.settle()
		r.nodes[r.ids[0]].Advertise("one")
		r.nodes[r.ids[0]].SetRecord("one", wire.Record{Term: 1})
		for _, msg := range r.nodes[r.ids[0]].Flush() {
			data, err := codec.Marshal(msg)
			require.NoError(t, err)
			bytes += len(data)
		}
		return bytes
	}
	require.InDelta(t, cost(10), cost(10_000), 20)
}

// A row of any size travels in parts, and is known only when all have come.
func TestALargeRowTravelsInParts(t *testing.T) {
	r := newExchangeRig(1, 2)
	for i := range 10_000 {
		r.nodes[r.ids[0]].Advertise(fmt.Sprintf("a-rather-long-name/%d", i))
	}
	r.settle()
	late := r.join("late")
	d := r.nodes[late]
	require.False(t, d.learned)
	require.True(t, d.Topology("a-rather-long-name/7").Members[0].Assumed, "nothing is known yet")
	most := 0
	for range 20 {
		for _, messages := range r.links {
			for _, msg := range messages {
				data, err := codec.Marshal(msg)
				require.NoError(t, err)
				most = max(most, len(data))
			}
		}
		r.carry(false)
	}
	r.settle()
	require.Less(t, most, partBytes+1000)
	require.True(t, d.learned)
	require.Len(t, d.peers[r.ids[0]].advertised, 10_000)
	p := d.Topology("a-rather-long-name/7").Members[0]
	require.Equal(t, "a-rather-long-name/7", p.Advertisement)
	require.False(t, p.Assumed)
}

// A node that joins after a crash learns what may still run on the crashed node, and what does not.
func TestWhoComesLaterLearnsWhatThoseThatAreGoneMayStillRun(t *testing.T) {
	r := newExchangeRig(1, 3)
	lost := r.ids[0]
	r.nodes[lost].Advertise("one")
	r.settle()
	r.crash(lost)
	late := r.nodes[r.join("late")]
	require.NotEmpty(t, late.Topology("other").Gone[0].Advertisement, "nothing is known yet")
	r.settle()
	require.Equal(t, "one", late.Topology("one").Gone[0].Advertisement)
	require.Empty(t, late.Topology("other").Gone[0].Advertisement)
}

// Until a node has heard from those that were up before it, it is not up to its managers, so
// that it uses no term a second time.
func TestANodeStartsNothingBeforeItKnowsTheTermsOfTheOthers(t *testing.T) {
	r := newExchangeRig(1, 2)
	r.nodes[r.ids[0]].SetRecord("one", wire.Record{Term: 7})
	r.settle()
	d := r.nodes[r.join("late")]
	d.Advertise("one")
	require.False(t, d.Topology("one").Members[2].Up)
	require.Zero(t, d.Topology("one").Record)
	r.settle()
	require.True(t, d.Topology("one").Members[2].Up)
	require.Equal(t, uint64(7), d.Topology("one").Record.Term)
}

// A term above the greatest that can be packed is nothing that a manager says.
func TestARecordWithATermThatNobodyCanUseIsNotTaken(t *testing.T) {
	d := New()
	d.Receive(wire.New(wire.Header{}, wire.Records{Records: []wire.NamedRecord{{Name: "one", Record: wire.Record{Term: wire.MaxTerm + 1}}}}))
	require.Empty(t, d.records)
}
