package singleton

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A sim is a cluster of machines under a random schedule of faults, in virtual time and
// in one goroutine. What it does depends on the seed alone.
type sim struct {
	rules  simRules
	rng    *rand.Rand
	now    time.Time
	queue  simQueue
	nodes  []*simNode // by address
	quiet  bool       // no more faults
	cutOff time.Time  // since when some nodes are cut off; zero when none is
	broken []string   // laws
	log    []string   // what happened, for people
	terms  map[uint64]PeerID
	seqs   map[uint64]uint64 // by term, the last
	last   Generation        // the latest that began a term
}

// simRules are what schedules differ in.
type simRules struct {
	nodes  int
	byAge  bool // order of election: by age or by address
	fenced bool // instances fence their writes; else removal takes a margin
	faults int
	loss   float64
	lag    time.Duration // by which what a node knows may be ahead of what its machine does
}

// Times of the simulated cluster. A node that is cut off notices that it is down at the
// latest (detection + skew) after the cut; its machine hears of it within the lag, and then
// stops the instance within a second.
const (
	simDetection = time.Second
	simSkew      = 300 * time.Millisecond
	simMargin    = 4 * time.Second
	simStop      = 500 * time.Millisecond
)

func newSim(seed uint64, rules simRules) *sim {
	s := &sim{
		rules: rules, rng: rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // a schedule, not a secret
		now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), terms: map[uint64]PeerID{}, seqs: map[uint64]uint64{},
	}
	for i := range rules.nodes {
		n := &simNode{sim: s, address: string(rune('a' + i))}
		s.nodes = append(s.nodes, n)
		s.in(s.upTo(time.Second), n.boot)
	}
	s.every(50*time.Millisecond, s.lead)
	return s
}

// run plays the schedule, then lets the cluster come to rest, and returns what went
// against the laws.
func (s *sim) run() []string {
	s.in(2*time.Second, func() { s.hurt(s.rules.faults) })
	for len(s.queue) > 0 && len(s.broken) == 0 {
		next := heap.Pop(&s.queue).(simEvent)
		if s.now = next.at; s.quiet && next.quiet {
			break
		}
		next.do()
	}
	if len(s.broken) == 0 {
		s.checkQuiet()
	}
	return s.broken
}

func (s *sim) in(d time.Duration, do func()) { s.push(simEvent{at: s.now.Add(d), do: do}) }

func (s *sim) push(e simEvent) {
	e.order = s.rng.Uint64() // of what happens at one moment
	heap.Push(&s.queue, e)
}

func (s *sim) every(d time.Duration, do func()) {
	s.in(d, func() {
		do()
		s.every(d, do)
	})
}

func (s *sim) upTo(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d) + 1)) }

func (s *sim) chance(p float64) bool { return s.rng.Float64() < p }

// delay is that of a message: mostly short, seldom long.
func (s *sim) delay() time.Duration {
	if s.chance(0.05) {
		return s.upTo(500 * time.Millisecond)
	}
	return time.Duration(s.rng.ExpFloat64() * float64(3*time.Millisecond))
}

// carry brings a message from one node to another, if it is lucky, or twice.
func (s *sim) carry(from, to *simNode, arrive func()) {
	if from.cut != to.cut || !s.quiet && s.chance(s.rules.loss) {
		return
	}
	s.in(s.delay(), arrive)
	if !s.quiet && s.chance(0.05) {
		s.in(s.delay(), arrive)
	}
}

func (s *sim) at(address string) *simNode {
	for _, n := range s.nodes {
		if n.address == address {
			return n
		}
	}
	return nil
}

func (s *sim) note(n *simNode, format string, args ...any) {
	at := s.now.Sub(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	s.log = append(s.log, fmt.Sprintf("%9.3fs %s: %s", at.Seconds(), n.id.short(), fmt.Sprintf(format, args...)))
}

func (s *sim) breach(n *simNode, format string, args ...any) {
	s.note(n, format, args...)
	s.broken = append(s.broken, s.log[len(s.log)-1])
}

// story returns the end of the log.
func (s *sim) story() string { return strings.Join(s.log[max(0, len(s.log)-80):], "\n") }

// hurt does a fault, and then the others.
func (s *sim) hurt(left int) {
	if left == 0 {
		s.heal()
		s.quiet = true
		s.push(simEvent{at: s.now.Add(30 * time.Second), quiet: true})
		return
	}
	victims := 1 + s.rng.IntN(2)
	switch s.rng.IntN(4) {
	case 0, 1:
		for range victims {
			s.victim((*simNode).leave)
		}
	case 2:
		for range victims {
			s.victim((*simNode).crash)
		}
	case 3:
		s.isolate()
	}
	s.in(s.upTo(4*time.Second), func() { s.hurt(left - 1) })
}

// victim does harm to a node that is up, unless it is the last one that is well.
func (s *sim) victim(harm func(*simNode)) {
	var well []*simNode
	for _, n := range s.nodes {
		if n.well() {
			well = append(well, n)
		}
	}
	if len(well) > 1 {
		harm(well[s.rng.IntN(len(well))])
	}
}

// isolate cuts off fewer than half of the nodes, for a while.
func (s *sim) isolate() {
	if !s.cutOff.IsZero() {
		return
	}
	s.cutOff = s.now
	for range (s.rules.nodes - 1) / 2 {
		s.victim(func(n *simNode) {
			n.cut = true
			s.note(n, "is cut off")
			s.in(simDetection+s.upTo(2*simSkew)-simSkew, n.noticeCut)
		})
	}
	s.in(s.upTo(4*time.Second), s.heal)
}

func (s *sim) heal() {
	s.cutOff = time.Time{}
	for _, n := range s.nodes {
		n.cut = false
	}
}

type simEvent struct {
	at    time.Time
	order uint64
	do    func()
	quiet bool // the end
}

type simQueue []simEvent

func (q simQueue) Len() int { return len(q) }
func (q simQueue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].order < q[j].order
	}
	return q[i].at.Before(q[j].at)
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(e any)   { *q = append(*q, e.(simEvent)) }
func (q *simQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
