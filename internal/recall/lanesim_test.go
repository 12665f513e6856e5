package recall

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/understudy-go/understudy/remote"
)

// A laneSim is a cluster of lanes for one instance, which moves, under a schedule of faults, in
// virtual time and in one goroutine. What it does depends on the plan alone.
type laneSim struct {
	plan   lanePlan
	rng    *rand.Rand
	now    time.Duration
	events laneEvents
	nodes  []*laneNode
	cut    map[[2]int]bool
	msgs   []laneMsg
	home   laneHome
	broken string
	found  [fates]int
	quiet  bool // no message is told any more
	log    []string
}

// A lanePlan is the kind of a schedule.
type lanePlan struct {
	seed    uint64
	nodes   int
	crashes bool
	cuts    bool // links fail, and views say so: order is not promised
	lossy   bool // recalls and their answers are lost or doubled
	oldest  bool // the oldest message gives way, as for a singleton, and not the newest
	limit   int
}

func drawLane(seed uint64) lanePlan {
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // a schedule, not a secret
	p := lanePlan{seed: seed, nodes: 2 + r.IntN(4), crashes: r.IntN(3) == 0, cuts: r.IntN(4) == 0, lossy: r.IntN(2) == 0, oldest: r.IntN(2) == 0, limit: 1000}
	if r.IntN(3) == 0 {
		p.limit = r.IntN(20)
	}
	return p
}

// A laneMsg is one message that was told.
type laneMsg struct {
	sender   remote.NodeID
	deadline time.Duration // of its ask; 0 for none
	held     bool          // it has waited in a lane
	fate     laneFate
}

type laneFate uint8

const (
	unknown   laneFate = iota
	handled            // by an instance
	noRoom             // dead letter: the buffer is full
	withdrawn          // dead letter: its ask has ended
	unlinked           // dead letter of a link that failed
	died               // with a node
	fates
)

// A carried is a message, with the node that has sent it where it is.
type carried struct {
	number int
	from   remote.NodeID
}

// A laneHome is what the coordinator knows.
type laneHome struct {
	at         *laneNode     // nil while it runs nowhere
	id         remote.NodeID // of it
	moving     bool
	version    int
	told       remote.NodeID // by the table
	generation uint64
	former     []remote.NodeID // of the nodes since the last that has begun
}

// A laneNode is a node with one lane: what lane.go in cluster/sharding is, without actors.
type laneNode struct {
	*laneSim
	index          int
	id             remote.NodeID
	alive          bool
	lane           Lane[carried]
	left           Leftovers[carried]
	stopped        uint64                 // the generation of the last instance here that was told to leave
	opens          func()                 // lets the instance begin here that waits for what others have left
	here           *laneInstance          // nil if it is not here
	members        map[remote.NodeID]bool // whether each can be reached
	version        int                    // of the table
	home           remote.NodeID
	homeGeneration uint64
	arrives        [8]time.Duration // when the last message to a node arrives: links keep their order
	ticks          bool
}

// A laneInstance handles messages one by one. It does not know the senders of what it has taken.
type laneInstance struct {
	closing, ended bool
	box            []int     // taken
	waits          []carried // not taken yet, after those
	busy           bool
}

func newLaneSim(p lanePlan) *laneSim {
	s := &laneSim{plan: p, rng: rand.New(rand.NewPCG(p.seed, 1)), cut: map[[2]int]bool{}} //nolint:gosec // likewise
	for i := range p.nodes {
		s.nodes = append(s.nodes, &laneNode{laneSim: s, index: i, id: remote.NodeID{Address: string(rune('a' + i)), Incarnation: 1}})
	}
	for _, n := range s.nodes {
		s.boot(n)
	}
	return s
}

func (s *laneSim) in(d time.Duration, do func()) {
	heap.Push(&s.events, laneEvent{s.now + d, s.rng.Uint64(), do})
}

func (s *laneSim) note(n *laneNode, format string, args ...any) {
	if *simSeed != 0 {
		s.log = append(s.log, fmt.Sprintf("%9.3fms %v: ", float64(s.now)/1e6, n.id)+fmt.Sprintf(format, args...))
	}
}

func (s *laneSim) upTo(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d))) }

func (s *laneSim) breach(format string, args ...any) {
	if s.broken == "" {
		s.broken = fmt.Sprintf("seed %d, %v: ", s.plan.seed, s.now) + fmt.Sprintf(format, args...)
	}
}

// run plays three seconds of faults, and then waits for as long until all has come to rest.
func (s *laneSim) run() string {
	const faulty, rest = 3 * time.Second, 6 * time.Second
	s.in(0, s.coordinate)
	s.in(faulty, func() {
		s.quiet = true
		for pair := range s.cut {
			delete(s.cut, pair)
		}
		s.viewAll(0)
	})
	for s.events.Len() > 0 && s.broken == "" && s.now < faulty+rest {
		next := heap.Pop(&s.events).(laneEvent)
		s.now = next.at
		next.do()
		s.faults(faulty)
	}
	s.checkRest()
	return s.broken
}

// faults breaks something from time to time.
func (s *laneSim) faults(until time.Duration) {
	if s.quiet || s.now > until-time.Second || s.rng.IntN(400) > 0 {
		return
	}
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	switch {
	case s.plan.crashes && n.alive && s.rng.IntN(2) == 0:
		n.crash()
	case s.plan.cuts:
		other := s.nodes[s.rng.IntN(len(s.nodes))]
		pair := pairOf(n, other)
		if n == other || s.cut[pair] {
			return
		}
		s.cut[pair] = true
		s.viewAll(50 * time.Millisecond)
		s.in(s.upTo(time.Second), func() {
			delete(s.cut, pair)
			s.viewAll(50 * time.Millisecond)
		})
	}
}

func pairOf(a, b *laneNode) [2]int { return [2]int{min(a.index, b.index), max(a.index, b.index)} }

// viewAll lets each node see the members, after a while each.
func (s *laneSim) viewAll(after time.Duration) {
	for _, n := range s.nodes {
		s.in(after+s.upTo(20*time.Millisecond), n.view)
	}
}

func (s *laneSim) boot(n *laneNode) {
	*n = laneNode{laneSim: s, index: n.index, id: remote.NodeID{Address: n.id.Address, Incarnation: n.id.Incarnation + 1}, alive: true}
	n.lane, n.left = NewLane[carried](n), NewLeftovers[carried](n)
	s.viewAll(0)
	s.broadcast(s.home.told)
	id := n.id
	s.in(100*time.Millisecond, func() { n.write(id) }) // when all know it
}

func (n *laneNode) crash() {
	s := n.laneSim
	n.alive = false
	lose := func(all []carried) {
		for _, m := range all {
			s.fate(m.number, died)
		}
	}
	lose(n.lane.Drain())
	lose(n.left.Take())
	if i := n.here; i != nil {
		lose(i.waits)
		for _, number := range i.box {
			s.fate(number, died)
		}
		i.box, i.waits = nil, nil
	}
	s.in(200*time.Millisecond, func() {
		s.viewAll(0)
		if s.home.at == n && s.home.id == n.id {
			s.free()
		}
		s.in(s.upTo(time.Second), func() { s.boot(n) })
	})
}

func (n *laneNode) view() {
	if !n.alive {
		return
	}
	n.members = map[remote.NodeID]bool{}
	for _, m := range n.nodes {
		if m.alive {
			n.members[m.id] = !n.cut[pairOf(n, m)]
		}
	}
	n.reroute()
}

// write tells something from time to time.
func (n *laneNode) write(id remote.NodeID) {
	if n.quiet || !n.alive || n.id != id {
		return
	}
	n.in(n.upTo(10*time.Millisecond), func() { n.write(id) })
	m := laneMsg{sender: id}
	if n.rng.IntN(4) == 0 {
		m.deadline = n.now + n.upTo(300*time.Millisecond)
	}
	n.msgs = append(n.msgs, m)
	n.take(carried{number: len(n.msgs) - 1})
}

func (n *laneNode) take(m carried) {
	if !n.plan.oldest && !n.lane.Clear() && n.lane.Size() >= n.plan.limit {
		gone := n.lane.Remove(func(m carried) bool { return n.over(m) })
		for _, m := range gone {
			n.fate(m.number, withdrawn)
		}
		if len(gone) == 0 {
			n.fate(m.number, noRoom)
			return
		}
	}
	n.lane.Take(m)
	n.shrink()
}

func (n *laneNode) shrink() {
	if !n.plan.oldest {
		return
	}
	for _, m := range n.lane.Shrink(n.plan.limit) {
		n.fate(m.number, noRoom)
	}
}

func (n *laneNode) over(m carried) bool {
	d := n.msgs[m.number].deadline
	return d != 0 && n.now >= d
}

func (n *laneNode) reroute() {
	n.left.Viewed(n.member)
	n.lane.Viewed(n.member)
	n.note(n, "has the route %v", n.route())
	n.lane.Redirect(n.route())
	if n.lane.Route().Kind == ToPeer && n.homeGeneration > n.left.generation {
		n.lane.Before(n.left.Take()) // it runs, and does not ask for them
	}
	n.lane.Flush()
	n.open()
}

func (n *laneNode) open() {
	if n.opens != nil && n.left.Ready() {
		n.opens()
	}
}

func (n *laneNode) member(id remote.NodeID) bool { return !n.Lost(id) }

func (n *laneNode) route() Route {
	switch {
	case n.here != nil && n.here.closing:
		return Route{Kind: ToSelf}
	case n.here != nil:
		return Route{Kind: ToInstance}
	case n.members[n.home] && n.home != n.id:
		return Route{Kind: ToPeer, Peer: n.home}
	}
	return Route{}
}

func (n *laneNode) arm() {
	if n.ticks || !n.lane.Waits() && n.left.Ready() {
		return
	}
	n.ticks = true
	id := n.id
	n.in(20*time.Millisecond, func() {
		if n.alive && n.id == id {
			n.ticks = false
			n.lane.Plan(simStart.Add(n.now))
			n.lane.Tick(simStart.Add(n.now), n)
			n.lane.Flush()
			n.left.Tick(simStart.Add(n.now), n)
			n.open()
			n.arm()
		}
	})
}

var simStart = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

// The methods of Peers.

func (n *laneNode) Reachable(id remote.NodeID) bool { return n.members[id] }
func (n *laneNode) Lost(id remote.NodeID) bool      { _, member := n.members[id]; return !member }

// The methods of an Outlet.

func (n *laneNode) Deliver(m carried) {
	n.note(n, "delivers %d", m.number)
	n.here.take(n, m)
}

func (n *laneNode) Send(to remote.NodeID, m carried) {
	n.note(n, "sends %d to %v", m.number, to)
	n.carry(to, m.number, func(other *laneNode) {
		if _, member := other.members[n.id]; member {
			other.lane.Arrived(n.id, carried{m.number, n.id})
		} else {
			other.take(carried{number: m.number})
		}
	})
}

func (n *laneNode) Return(to remote.NodeID, m carried) {
	n.note(n, "returns %d to %v", m.number, to)
	n.carry(to, m.number, func(other *laneNode) {
		other.lane.Returned(n.id, carried{number: m.number})
		other.shrink()
	})
}

func (n *laneNode) Recall(number uint64, from remote.NodeID) {
	n.note(n, "recalls from %v by %d", from, number)
	by := n.id
	n.notice(from, func(other *laneNode) { other.lane.Asked(by, number) })
}

func (n *laneNode) Passed(number uint64, to remote.NodeID) {
	n.note(n, "answers %v by %d", to, number)
	n.notice(to, func(other *laneNode) { other.lane.Passed(number) })
}

func (n *laneNode) Hold(m carried) carried {
	n.msgs[m.number].held = true
	return m
}

func (n *laneNode) Pass(m carried) bool {
	if n.over(m) {
		n.fate(m.number, withdrawn)
		return false
	}
	return true
}

// The methods of a LeftoversOutlet.

func (n *laneNode) Fetch(generation uint64, from remote.NodeID) {
	n.note(n, "fetches from %v by %d", from, generation)
	by := n.id
	n.notice(from, func(other *laneNode) { other.left.Asked(by, generation) })
}

func (n *laneNode) Give(to remote.NodeID, m carried) {
	n.note(n, "gives %d to %v", m.number, to)
	n.carry(to, m.number, func(other *laneNode) { other.left.Keep(carried{number: m.number}) })
}

func (n *laneNode) Given(generation uint64, to remote.NodeID) {
	from := n.id
	n.notice(to, func(other *laneNode) {
		other.left.Given(from, generation)
		other.open()
	})
}

// notice carries what may be lost or doubled.
func (n *laneNode) notice(to remote.NodeID, arrive func(*laneNode)) {
	times := 1
	if n.plan.lossy && !n.quiet {
		times = n.rng.IntN(3)
	}
	for range times {
		n.carry(to, -1, arrive)
	}
	n.arm()
}

// carry brings something along a link: in order, once, or not at all if one end dies or it is cut.
func (n *laneNode) carry(to remote.NodeID, msg int, arrive func(*laneNode)) {
	other, from := n.nodes[to.Address[0]-'a'], n.id
	at := max(n.now+100*time.Microsecond+n.upTo(5*time.Millisecond), n.arrives[other.index]+1)
	n.arrives[other.index] = at
	n.in(at-n.now, func() {
		switch {
		case n.alive && n.id == from && other.alive && other.id == to && !n.cut[pairOf(n, other)]:
			arrive(other)
			other.arm()
		case msg < 0:
		case n.cut[pairOf(n, other)]:
			n.fate(msg, unlinked)
		default:
			n.fate(msg, died)
		}
	})
}
