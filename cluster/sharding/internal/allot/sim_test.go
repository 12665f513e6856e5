package allot

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/effort"
)

var simFirst = flag.Uint64("sim.first", 0, "the seed of the first history")

// A world has a coordinator and some nodes, whose messages are lost, doubled and late. Each node
// has the agent that a real one has.
type world struct {
	t      *testing.T
	rng    *rand.Rand
	seed   uint64
	now    time.Time
	kind   table.Type
	stored home.Ledger
	keeps  bool // the coordinators share a journal
	epoch  uint64
	m      *Machine
	nodes  []*simNode
	mail   []func()
	next   uint64 // incarnation
	gone   []home.Gone
	told   map[home.RequestID]bool // start requests
	calm   bool                    // nothing is lost any more
	token  home.Token              // of the last request to stop shards
	leased bool                    // nodes host only while they have a lease
	leases uint64                  // tokens so far
	lively bool                    // entities start, most of them event-sourced
	mixed  bool                    // the programs of some nodes have others
	agreed bool                    // a coordinator has known that all are event-sourced
}

type simNode struct {
	name        string
	incarnation uint64
	up, alive   bool
	reachable   bool
	agent       *home.Agent
	running     map[string]home.StartRequest
	at          table.Table
	offered     bool
	goneUntil   time.Time // a former member runs until then, at most; zero if it has certainly ended

	lease     uint64    // the token of the lease that it has; 0 for none
	leaseName string    // the same for all processes of a name
	until     time.Time // a former member has its lease until then, and may get it again

	plain    bool // its program has entities that are not event-sourced
	entities table.Entities
	awake    map[string]bool // the shards with entities
}

func (n *simNode) id() home.NodeID {
	return home.NodeID{Name: n.name, Incarnation: n.incarnation}
}

const margin = 10 * time.Second

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), seed: seed, now: time.Unix(0, 0), kind: table.Type{Name: "cart", Shards: 16, Message: "m"},
		keeps: seed%2 == 0, leased: seed%4 == 0, told: map[home.RequestID]bool{},
		lively: seed%4 != 0 && seed%3 != 2, mixed: seed%3 == 1,
	}
	if seed%4 == 2 {
		w.kind.Mode = table.Daemons
	}
	for range 2 + w.rng.IntN(3) {
		w.join(fmt.Sprint("n", len(w.nodes)))
	}
	w.elect()
	return w
}

func (w *world) join(name string) {
	w.next++
	n := &simNode{name: name, incarnation: w.next, up: true, alive: true, reachable: true, agent: home.NewAgent(name), running: map[string]home.StartRequest{}, leaseName: name, awake: map[string]bool{}}
	n.plain = w.mixed && w.rng.IntN(2) == 0
	w.nodes = append(w.nodes, n)
	w.act(n, n.agent.Step(home.AgentMembership{Incarnation: n.incarnation}))
}

// elect starts another coordinator.
func (w *world) elect() {
	w.epoch++
	stored := home.Ledger{}
	if w.keeps {
		stored = w.stored
	}
	w.m = New(Config{
		Config:    home.Config{Forgetful: !w.keeps, Epoch: w.epoch, AckTimeout: 2 * time.Second, Retry: time.Second, RetryMax: 10 * time.Second},
		FirstTerm: w.epoch, HelloWait: time.Second, RebalanceEvery: 500 * time.Millisecond, LeaseRetry: 5 * time.Second,
	}, stored)
	require.Empty(w.t, w.m.Unfit, "seed %d", w.seed)
	for _, n := range w.nodes {
		n.offered = false
	}
	w.step(home.Recovered{})
	w.view()
}

func (w *world) view() {
	var v home.ViewChanged
	for _, n := range w.nodes {
		if n.alive {
			v.Nodes = append(v.Nodes, home.Node{Name: n.name, Address: n.name, Incarnation: n.incarnation, Up: n.up, Reachable: n.reachable})
		}
	}
	v.Gone = slices.Clone(w.gone)
	w.step(v)
}

func (w *world) step(in home.Input) {
	m := w.m
	facts, effects := m.Step(in, w.now)
	for _, f := range facts {
		w.stored = w.stored.With(f)
	}
	if k := m.shards.kinds["cart"]; k != nil && k.Sourced == table.Agreed {
		w.agreed = true
	}
	for _, e := range effects {
		switch e := e.(type) {
		case home.Send:
			w.post(func() { w.toAgent(m, e) })
		case Push:
			w.post(func() { w.pushed(m, e) })
		case Fence:
			w.mail = append(w.mail, func() { w.fence(m, e) })
		}
	}
}

// post sends a message, which may be lost, doubled and late.
func (w *world) post(deliver func()) {
	if !w.calm && w.rng.IntN(10) == 0 {
		return
	}
	w.mail = append(w.mail, deliver)
	if !w.calm && w.rng.IntN(10) == 0 {
		w.mail = append(w.mail, deliver)
	}
}

func (w *world) node(name string, incarnation uint64) *simNode {
	for _, n := range w.nodes {
		if n.name == name && n.incarnation == incarnation && n.alive {
			return n
		}
	}
	return nil
}

func (w *world) toAgent(m *Machine, e home.Send) {
	n := w.node(e.Node, e.Incarnation)
	if n == nil && w.leased {
		n = w.former(e.Incarnation) // earlier messages may come late
	}
	if n == nil || !n.reachable {
		return
	}
	if start, ok := e.Msg.(home.StartRequest); ok {
		w.told[start.ID] = true
	}
	msg := e.Message(noRef)
	w.heard(n, n.agent.Step(home.AgentReceived{Message: msg}), m)
	if _, asks := e.Msg.(home.ReportRequest); asks {
		w.hello(n, m)
	}
}

func (w *world) hello(n *simNode, m *Machine) {
	o := Offer{Type: w.kind, Hosts: true, Leased: w.leased, Lease: n.lease, Entities: n.entities}
	if declared, known := n.at.Of("cart"); known {
		o.Agreed, o.Type.Sourced = true, declared.Sourced
	}
	in := Hello{Node: n.id(), Has: n.at.Version(), Offers: []Offer{o}}
	w.post(func() {
		if m == w.m && n.reachable {
			w.step(in)
		}
	})
}

func (w *world) act(n *simNode, all []home.AgentAction) { w.heard(n, all, w.m) }

// heard carries out the actions of an agent.
func (w *world) heard(n *simNode, all []home.AgentAction, m *Machine) {
	for _, a := range all {
		switch a := a.(type) {
		case home.Launch:
			if w.leased && (n.lease == 0 || ParseState(a.Request.State).Lease != n.lease) {
				w.heard(n, n.agent.Step(home.AgentEnded{Label: a.Request.Label, ID: a.Request.ID, Why: "another lease"}), m)
				continue
			}
			if ParseState(a.Request.State).Fenced && !n.promise() {
				w.heard(n, n.agent.Step(home.AgentEnded{Label: a.Request.Label, ID: a.Request.ID, Why: "entities of another kind"}), m)
				continue
			}
			n.running[a.Request.Label] = a.Request
			w.mail = append(w.mail, func() {
				if n.running[a.Request.Label].ID == a.Request.ID {
					w.heard(n, n.agent.Step(home.AgentStarted{Label: a.Request.Label, ID: a.Request.ID}), m)
				}
			})
		case home.Halt:
			w.mail = append(w.mail, func() { w.end(n, a.ID, "") })
		case home.Tell:
			msg := a.Message
			w.post(func() {
				if n.alive && n.reachable {
					w.step(home.Received{Message: msg})
				}
			})
		}
	}
}

// end ends the shard of a request.
func (w *world) end(n *simNode, id home.RequestID, why string) {
	for label, r := range n.running {
		if r.ID == id {
			delete(n.running, label)
			delete(n.awake, label)
			w.act(n, n.agent.Step(home.AgentEnded{Label: label, ID: id, Why: why}))
		}
	}
}

func (w *world) pushed(m *Machine, e Push) {
	n := w.node(e.Node.Name, e.Node.Incarnation)
	if n == nil || !n.reachable {
		return
	}
	n.at.Apply(e.Update)
	entry, ok := n.at.Of("cart")
	if entry.Sourced != table.Open {
		n.promise()
	}
	if ok && w.keeps {
		stored := w.stored.All()
		for shard, h := range entry.Homes { // what a node believes of the coordinator is stored
			if h.Node.Address != "" {
				require.LessOrEqual(w.t, h.Generation, stored[ofShard+Label("cart", shard)].Generation.Term, "seed %d", w.seed)
			}
		}
	}
	w.hello(n, m)
}

// former returns the former member of that incarnation, which runs for some time.
func (w *world) former(incarnation uint64) *simNode {
	i := slices.IndexFunc(w.nodes, func(n *simNode) bool { return n.incarnation == incarnation && !n.alive })
	if i < 0 {
		return nil
	}
	return w.nodes[i]
}

// holder returns the process that has a lease, or nil.
func (w *world) holder(name string) *simNode {
	for _, n := range w.nodes {
		if n.leaseName == name && n.lease != 0 {
			return n
		}
	}
	return nil
}

// fence answers the request for the lease of a former member, and releases the lease at once.
func (w *world) fence(m *Machine, f Fence) {
	if m == w.m {
		w.leases++
		w.step(FenceAnswered{Fence: f, Held: w.holder(f.Node.Name) == nil, Why: "held"})
	}
}

// loseLease ends the lease of a node, with all that it runs.
func (w *world) loseLease(n *simNode) {
	n.lease = 0
	for _, label := range slices.Sorted(maps.Keys(n.running)) {
		w.end(n, n.running[label].ID, "lease lost")
	}
}

// passLeases lets time pass for leases: former members lose theirs, and the nodes without one ask.
func (w *world) passLeases() {
	for _, n := range w.nodes {
		if !n.alive && n.lease != 0 && w.now.After(n.until) {
			w.loseLease(n)
		}
		if n.lease == 0 && w.rng.IntN(10) == 0 && w.holder(n.leaseName) == nil {
			w.leases++
			n.lease, n.until = w.leases, w.now.Add(time.Duration(w.rng.IntN(20))*time.Second)
			w.hello(n, w.m)
		}
	}
}

// mayRun reports whether a former member may still run what it has. With leases it may do so for
// ever, until it has lost its lease.
func (w *world) mayRun(n *simNode) bool { return w.leased || w.now.Before(n.goneUntil) }

// promise reports whether a node runs no entities from now on that are not event-sourced.
func (n *simNode) promise() bool {
	if n.entities == table.Unknown {
		n.entities = table.EventSourced
	}
	return n.entities == table.EventSourced
}

// wake lets an entity start, also on a former member that does not know yet that it is one.
func (w *world) wake() {
	n, label := w.nodes[w.rng.IntN(len(w.nodes))], Label("cart", w.rng.IntN(3))
	_, runs := n.running[label]
	switch {
	case !runs, !n.alive && !w.mayRun(n):
		return
	case !n.plain:
		n.promise()
	case n.entities == table.EventSourced:
		return // it is refused
	default:
		n.entities = table.Plain
	}
	n.awake[label] = true
	if n.alive {
		w.hello(n, w.m)
	}
}

// checkFenced checks that nothing runs beside an entity that no journal fences, not even on former
// members.
func (w *world) checkFenced() {
	plain, awake := map[string]string{}, map[string]string{}
	for _, n := range w.nodes {
		for label := range n.awake {
			if !n.alive && !w.mayRun(n) {
				continue
			}
			other, both := awake[label]
			if awake[label] = n.name; n.plain {
				plain[label] = n.name
			}
			require.False(w.t, both && plain[label] != "", "seed %d: %s has entities on %s and %s at %v, and those on %s are not fenced", w.seed, label, n.name, other, w.now, plain[label])
		}
	}
}

// check checks that no shard runs on two nodes, former members included, unless all of its entities
// are fenced.
func (w *world) check() {
	if w.lively {
		w.checkFenced()
	}
	at := map[string]home.StartRequest{}
	for _, n := range w.nodes {
		if !n.alive && (!w.mayRun(n) || w.agreed) {
			continue
		}
		for label, r := range n.running {
			other, twice := at[label]
			require.False(w.t, twice, "seed %d: %s runs twice at %v: %v and %v", w.seed, label, w.now, r, other)
			for _, o := range at {
				require.Equal(w.t, ParseState(o.State).Shards, ParseState(r.State).Shards, "seed %d: %s and %s are of different numbers of daemons", w.seed, o.Label, label)
			}
			at[label] = r
		}
	}
}

// crash ends a node without a word. It is a former member from then on; what it ran may run until
// the margin has passed.
func (w *world) crash(n *simNode) {
	n.alive = false
	n.until = w.now.Add(time.Duration(w.rng.IntN(30)) * time.Second)
	n.goneUntil = w.now.Add(margin)
	w.gone = append(w.gone, home.Gone{Name: n.name, Incarnation: n.incarnation, Until: n.goneUntil})
	w.view()
}

func (w *world) random() {
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	alive := 0
	for _, o := range w.nodes {
		if o.alive {
			alive++
		}
	}
	switch w.rng.IntN(65) {
	case 64:
		if n.alive && w.leased {
			w.loseLease(n)
			w.hello(n, w.m)
		}
	case 60, 61:
		w.step(SetPins{Token: 2, Type: "cart", Shards: w.some(), Node: w.nodes[w.rng.IntN(len(w.nodes))].name}) // of former nodes too
	case 62:
		w.step(SetPins{Token: 2, Type: "cart", Shards: w.some()})
	case 63:
		w.token++
		w.step(StopShards{Token: w.token, Type: "cart", Shards: w.some()})
	case 0:
		if n.alive && alive > 1 {
			w.crash(n)
		}
	case 1:
		if alive < 5 {
			w.join(fmt.Sprint("n", len(w.nodes)))
			w.view()
		}
	case 2:
		w.elect()
	case 3:
		if n.alive {
			n.reachable = !n.reachable
			w.view()
		}
	case 4:
		if n.alive {
			for _, label := range slices.Sorted(maps.Keys(n.running))[:min(1, len(n.running))] {
				w.end(n, n.running[label].ID, "broken")
			}
		}
	case 5:
		if n.alive && alive > 1 && n.up {
			n.up = false // it leaves
			w.view()
			w.step(home.Drain{Token: 1, Node: n.id()})
		}
	case 6:
		if !n.alive && n.name != "" && alive < 5 { // the same node in another process
			name := n.name
			n.name, n.goneUntil = "", time.Time{}
			w.gone = slices.DeleteFunc(w.gone, func(g home.Gone) bool { return g.Name == name })
			w.join(name)
			w.view()
		}
	case 7:
		if w.kind.Mode == table.Daemons {
			w.step(Rescale{Token: 2, Type: w.kind.Name, Shards: 1 << w.rng.IntN(6)})
		}
	}
}

// some returns the numbers of up to four shards.
func (w *world) some() []int { return w.rng.Perm(w.kind.Shards)[:1+w.rng.IntN(4)] }

func (w *world) run(steps int, faults bool) {
	for range steps {
		if faults {
			w.random()
		}
		for range 4 {
			if len(w.mail) > 0 {
				i := w.rng.IntN(len(w.mail))
				deliver := w.mail[i]
				w.mail = slices.Delete(w.mail, i, i+1)
				deliver()
				w.check()
			}
		}
		w.now = w.now.Add(time.Duration(w.rng.IntN(200)) * time.Millisecond)
		w.gone = slices.DeleteFunc(w.gone, func(g home.Gone) bool { return w.now.After(g.Until.Add(time.Minute)) })
		if at, due := w.m.Next(); due && !at.After(w.now) {
			w.step(home.Tick{})
		}
		if w.leased {
			w.passLeases()
		}
		if w.lively && w.rng.IntN(4) == 0 {
			w.wake()
		}
		for _, n := range w.nodes {
			if n.alive && w.rng.IntN(20) == 0 {
				w.act(n, n.agent.Step(home.AgentTick{}))
				w.hello(n, w.m) // from time to time
			}
		}
		w.check()
	}
}

func TestSimulated(t *testing.T) {
	for i := range effort.Count[uint64](2, 15, 200) {
		seed := *simFirst + i
		w := newWorld(t, seed)
		w.run(1500, true)
		w.calm = true
		for _, n := range w.nodes {
			n.reachable = true
		}
		w.nodes = slices.DeleteFunc(w.nodes, func(n *simNode) bool {
			if n.alive && !n.up {
				n.alive = false // it has left
			}
			return !n.alive
		})
		if len(w.nodes) == 0 {
			w.join("last")
		}
		w.view()
		w.run(4000, false)
		w.settled()
	}
}

// settled checks that each shard runs, that they are where they have been pinned to, and otherwise
// balanced, that all requests are answered, and that all nodes know the homes.
func (w *world) settled() {
	count := map[string]int{}
	homes := map[string]string{}
	for _, n := range w.nodes {
		for label := range n.running {
			homes[label] = n.name
			count[n.name]++
		}
	}
	k := w.m.shards.kinds["cart"]
	require.Zero(w.t, k.next, "seed %d", w.seed)
	require.Len(w.t, homes, k.Shards, "seed %d: all shards run, %s", w.seed, w.describe("cart/0"))
	pinned := map[string]int{}
	for shard, name := range w.m.Pins("cart") {
		if slices.ContainsFunc(w.nodes, func(n *simNode) bool { return n.name == name }) {
			require.Equal(w.t, name, homes[Label("cart", shard)], "seed %d: %s", w.seed, w.describe(Label("cart", shard)))
			pinned[name]++
		}
	}
	var all []load
	for _, n := range w.nodes {
		all = append(all, load{node: n.name, shards: count[n.name], pinned: pinned[n.name]})
	}
	require.Empty(w.t, excess(all, 1), "seed %d: %v, %q, %v; %s", w.seed, all, w.m.shards.balance.why, w.m.View(), w.describe("cart/1"))
	require.Empty(w.t, w.m.shards.stops.left, "seed %d", w.seed)
	for _, n := range w.nodes {
		e, ok := n.at.Of("cart")
		require.True(w.t, ok, "seed %d", w.seed)
		for shard, h := range e.Homes {
			require.Equal(w.t, homes[Label("cart", shard)], h.Node.Address, "seed %d: the table of %s, %s", w.seed, n.name, w.describe(Label("cart", shard)))
		}
	}
}

var noRef actor.ActorRef[home.FromAgent]

func (w *world) describe(label string) string {
	sh := w.m.shards.of(label)
	var at []string
	for _, n := range w.nodes {
		at = append(at, fmt.Sprintf("%s#%d has %v; runs %v", n.name, n.incarnation, n.at.Version(), n.running[label]))
	}
	return fmt.Sprintf("stage %d %+v error %q; book %v has %v; %s; places %v; settled %v", sh.stage, sh.Record, sh.lastError, w.m.book.Version(), w.m.has, at, w.m.nodes.PlacesOf(label), w.m.nodes.Settled())
}
