package recall

import (
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/remote"
)

// coordinate lets the instance run somewhere, and moves it from time to time.
func (s *laneSim) coordinate() {
	s.in(10*time.Millisecond, s.coordinate)
	switch h := &s.home; {
	case h.at == nil:
		s.start(s.nodes[s.rng.IntN(len(s.nodes))])
	case !h.moving && !s.quiet && s.rng.IntN(30) == 0:
		h.moving = true
		from, id, generation := h.at, h.id, h.generation
		if s.rng.IntN(2) == 0 {
			s.broadcast(remote.NodeID{})
		}
		s.in(s.upTo(5*time.Millisecond), func() {
			if from.alive && from.id == id {
				from.stopped = generation
				from.leave()
			}
		})
	}
}

// free notes that the instance runs nowhere.
func (s *laneSim) free() {
	s.home.former = append(s.home.former, s.home.id)
	s.home.at = nil
	s.broadcast(remote.NodeID{})
}

// start lets the instance run on a node, when that has what the former ones have left.
func (s *laneSim) start(n *laneNode) {
	if !n.alive || !n.member(n.id) { // it is no member yet
		return
	}
	s.home.generation++
	h := s.home
	s.home.at, s.home.id, s.home.moving = n, n.id, false
	id := n.id
	s.in(s.upTo(30*time.Millisecond), func() {
		if !n.alive || n.id != id || n.stopped == h.generation {
			return
		}
		n.opens = func() { n.begin(h.generation) }
		n.left.Fetch(h.generation, slices.DeleteFunc(h.former, func(id remote.NodeID) bool { return id == n.id || !n.member(id) }))
		n.open()
	})
}

func (n *laneNode) begin(generation uint64) {
	n.opens = nil
	n.here = &laneInstance{}
	n.note(n, "begins %d", generation)
	n.lane.Redirect(n.route())
	for _, m := range n.left.Take() {
		if n.Pass(m) {
			n.here.take(n, m)
		}
	}
	n.lane.Flush()
	id := n.id
	n.in(n.upTo(5*time.Millisecond), func() {
		if h := &n.laneSim.home; h.at == n && h.id == id && h.generation == generation {
			h.former = nil
			n.broadcast(id)
		}
	})
}

// broadcast sends the table to all nodes.
func (s *laneSim) broadcast(home remote.NodeID) {
	s.home.version++
	s.home.told = home
	version, generation := s.home.version, s.home.generation
	for _, n := range s.nodes {
		s.in(s.upTo(40*time.Millisecond), func() {
			if n.alive && n.version < version {
				n.version, n.home, n.homeGeneration = version, home, generation
				n.reroute()
			}
		})
	}
}

// leave lets the instance end, which takes a while.
func (n *laneNode) leave() {
	i, id := n.here, n.id
	ended := func() {
		if h := &n.laneSim.home; h.at == n && h.id == id {
			n.free()
		}
	}
	if n.opens = nil; i == nil {
		n.in(n.upTo(5*time.Millisecond), ended)
		return
	}
	i.closing = true
	n.reroute()
	n.in(n.upTo(40*time.Millisecond), func() {
		if !n.alive || n.id != id {
			return
		}
		i.ended = true
		for _, number := range i.box {
			n.note(n, "has not handled %d", number)
			n.left.Keep(n.Hold(carried{number: number}))
		}
		for _, m := range i.waits {
			n.note(n, "has not handled %d of %v", m.number, m.from)
			n.left.Keep(n.Hold(m))
		}
		i.box, i.waits, n.here = nil, nil, nil
		n.reroute()
		n.arm()
		n.in(n.upTo(5*time.Millisecond), ended)
	})
}

// take takes a message, or lets it wait behind others that do.
func (i *laneInstance) take(n *laneNode, m carried) {
	if i != n.here || i.closing {
		n.breach("message %d reaches an instance that does not take any", m.number)
	}
	if told := &n.msgs[m.number]; told.held && n.over(m) && m.from == (remote.NodeID{}) {
		n.breach("message %d is handled, although it has waited here past its deadline", m.number)
	}
	if len(i.waits) > 0 || n.rng.IntN(20) == 0 {
		i.waits = append(i.waits, m)
		n.in(n.upTo(20*time.Millisecond), func() { i.wake(n) })
		return
	}
	i.box = append(i.box, m.number)
	i.work(n)
}

// wake lets the messages that wait into the mailbox.
func (i *laneInstance) wake(n *laneNode) {
	if i.ended || !n.alive {
		return
	}
	for _, m := range i.waits {
		i.box = append(i.box, m.number)
	}
	i.waits = nil
	i.work(n)
}

// work handles the messages one by one.
func (i *laneInstance) work(n *laneNode) {
	if i.busy || len(i.box) == 0 {
		return
	}
	i.busy = true
	n.in(n.upTo(3*time.Millisecond), func() {
		i.busy = false
		if len(i.box) > 0 && n.alive {
			n.fate(i.box[0], handled)
			i.box = i.box[1:]
			i.work(n)
		}
	})
}

// fate says what became of a message, once.
func (s *laneSim) fate(number int, f laneFate) {
	m := &s.msgs[number]
	if m.fate != unknown {
		s.breach("message %d of %v has the fate %d after it had %d", number, m.sender, f, m.fate)
	}
	m.fate = f
	s.found[f]++
	s.log = append(s.log, fmt.Sprintf("%9.3fms message %d of %v: fate %d", float64(s.now)/1e6, number, m.sender, f))
	if f != handled || s.plan.cuts {
		return
	}
	for later := number + 1; later < len(s.msgs); later++ {
		if o := s.msgs[later]; o.sender == m.sender && o.fate == handled {
			s.breach("message %d of %v is handled after %d", number, m.sender, later)
		}
	}
}

// checkRest is the end: the instance runs, and nothing waits for anything.
func (s *laneSim) checkRest() {
	for number, m := range s.msgs {
		if m.fate == unknown {
			s.breach("message %d of %v is forgotten", number, m.sender)
		}
	}
	for _, n := range s.nodes {
		if n.alive && (n.lane.Size() > 0 || n.lane.Waits() || n.left.Size() > 0 || !n.left.Ready() || len(n.left.heirs) > 0) {
			s.breach("%v waits: %+v", n.id, n.lane)
		}
	}
	if s.home.at == nil || !slices.ContainsFunc(s.nodes, func(n *laneNode) bool { return n.here != nil && !n.here.closing }) {
		s.breach("there is no instance")
	}
	for f, n := range s.found {
		if n > 0 && !s.allowed(laneFate(f)) {
			s.breach("%d messages have the fate %d", n, f)
		}
	}
}

// allowed reports whether a message may have a fate by this plan.
func (s *laneSim) allowed(f laneFate) bool {
	switch f {
	case noRoom:
		return s.plan.limit < 1000
	case unlinked:
		return s.plan.cuts
	case died:
		return s.plan.crashes
	default:
		return true
	}
}

type laneEvent struct {
	at    time.Duration
	order uint64 // of what happens at one moment
	do    func()
}

type laneEvents []laneEvent

func (q laneEvents) Len() int { return len(q) }
func (q laneEvents) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q laneEvents) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *laneEvents) Push(x any)   { *q = append(*q, x.(laneEvent)) }
func (q *laneEvents) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}
