package handover

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
)

// A sim is a cluster of machines under a schedule of faults, in virtual time and in one
// goroutine. What it does depends on the schedule alone.
type sim struct {
	plan  simPlan
	rng   *rand.Rand
	now   time.Duration // since the beginning
	queue simQueue
	nodes []*simNode // by address

	cuts     [simMax][simMax]int // how many faults cut the way from one node to another
	noStore  [simMax]int         // how many keep a node from journal and lease store
	slow     int                 // how many slow all messages down
	quiet    bool                // no more faults
	done     bool
	clusters uint32 // how many have been founded
	journal  simJournal
	store    simStore
	source   uint64 // the last term that it has given
	laws     simLaws
	found    simFound
	told     []simMsg
	flying   int // how many messages connections carry

	logs bool // write the log: a replay
	log  []string
}

// simMax is the largest number of nodes.
const simMax = 9

// Times of the simulated cluster. A node that a majority does not hear from is removed after
// simDetection + simStable. A node that has heard from no majority for as long considers itself
// removed.
const (
	simBeat      = 200 * time.Millisecond
	simDetection = time.Second
	simStable    = 2 * time.Second
	simStop      = 500 * time.Millisecond // the stop timeout
	simLastStop  = 400 * time.Millisecond // how long an instance still takes after it
	simMargin    = 10 * time.Second
	simLeaseTTL  = 5 * time.Second
	simFormed    = 4 * time.Second // when the first fault may happen
)

// simBegin is what a clock shows in the beginning.
var simBegin = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func newSim(plan simPlan, logs bool) *sim {
	s := &sim{plan: plan, rng: rand.New(rand.NewPCG(plan.seed, 1)), logs: logs} //nolint:gosec // a schedule, not a secret
	s.laws.seqs, s.laws.lifted, s.laws.removed = map[uint64]uint64{}, map[tenure.Generation]bool{}, map[remote.NodeID]bool{}
	s.store.rate = s.rate()
	for i := range plan.nodes {
		n := &simNode{sim: s, index: i, address: string(rune('a' + i)), rate: s.rate()}
		s.nodes = append(s.nodes, n)
		s.in(s.upTo(time.Second), n.boot)
	}
	return s
}

// rate is how fast a clock runs.
func (s *sim) rate() float64 { return 1 + s.plan.drift*(2*s.rng.Float64()-1) }

// run plays the schedule, lets the cluster come to rest, and returns the broken laws; "" if none is
// broken.
func (s *sim) run() string {
	at := simFormed
	end := at
	for _, f := range s.plan.faults {
		at += f.after
		s.in(at, func() { s.apply(f) })
		end = max(end, at+f.lasts)
	}
	if s.plan.finish > 0 && !s.plan.atStop {
		s.in(simFormed+s.plan.finish, s.finish)
	}
	s.in(end, s.rest)
	for !s.done && s.laws.broken == "" {
		next := s.queue.pop()
		s.now = next.at
		next.do()
	}
	return s.laws.broken
}

// finish lets the instance finish, as soon as there is one that works.
func (s *sim) finish() {
	if host := s.host(); host != nil && host.inst.ready && !host.paused {
		host.inst.end(InstanceEnded{Finished: true})
		return
	}
	s.in(100*time.Millisecond, s.finish)
}

// rest ends the faults, and the run when all is well, or should be.
func (s *sim) rest() {
	s.quiet = true
	deadline := s.now + 60*time.Second
	calm := 0
	var look func()
	look = func() {
		switch why := s.unrest(); {
		case why != "":
			calm = 0
			if s.now > deadline {
				s.found.final = false
				s.breach("%s, a minute after the last fault", why)
			}
		case calm == 4:
			s.found.final = true
			s.done = true
			s.checkMessages()
			return
		default:
			calm++
		}
		s.in(500*time.Millisecond, look)
	}
	look()
}

func (s *sim) in(d time.Duration, do func()) {
	s.queue.push(simEvent{at: s.now + d, order: s.rng.Uint64(), do: do})
}

func (s *sim) upTo(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d) + 1)) }

func (s *sim) between(low, high time.Duration) time.Duration { return low + s.upTo(high-low) }

func (s *sim) chance(p float64) bool { return s.rng.Float64() < p }

// delay returns the delay of a message: mostly short, rarely long.
func (s *sim) delay() time.Duration {
	d := 200*time.Microsecond + time.Duration(s.rng.ExpFloat64()*float64(time.Millisecond))
	if s.chance(0.01) {
		d += s.upTo(s.plan.spike())
	}
	if s.slow > 0 {
		d += s.upTo(800 * time.Millisecond)
	}
	return d
}

// carry brings a datagram from one node to another, unless it is lost, or twice.
func (s *sim) carry(from, to *simNode, arrive func()) {
	if s.cuts[from.index][to.index] > 0 || !s.quiet && s.chance(s.plan.loss) {
		return
	}
	s.in(s.delay(), func() { to.awake(arrive) })
	if s.plan.loss > 0 && !s.quiet && s.chance(0.05) {
		s.in(s.delay(), func() { to.awake(arrive) })
	}
}

func (s *sim) linked(a, b *simNode) bool {
	return s.cuts[a.index][b.index] == 0 && s.cuts[b.index][a.index] == 0
}

func (s *sim) at(address string) *simNode { return s.nodes[address[0]-'a'] }

func (s *sim) note(n *simNode, format string, args ...any) {
	if s.logs {
		s.log = append(s.log, fmt.Sprintf("%9.3fs %s: %s", s.now.Seconds(), short(n.id), fmt.Sprintf(format, args...)))
	}
}

func (s *sim) breach(format string, args ...any) {
	if s.laws.broken == "" {
		s.laws.broken = fmt.Sprintf("%9.3fs ", s.now.Seconds()) + fmt.Sprintf(format, args...)
	}
}

type simEvent struct {
	at    time.Duration
	order uint64 // of what happens at one moment
	do    func()
}

func (e simEvent) before(o simEvent) bool { return e.at < o.at || e.at == o.at && e.order < o.order }

type simQueue []simEvent

func (q *simQueue) push(e simEvent) {
	h := append(*q, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
	*q = h
}

func (q *simQueue) pop() simEvent {
	h := *q
	first, last := h[0], h[len(h)-1]
	h[len(h)-1] = simEvent{}
	h = h[:len(h)-1]
	*q = h
	for i := 0; len(h) > 0; {
		down := 2*i + 1
		if down < len(h)-1 && h[down+1].before(h[down]) {
			down++
		}
		if down >= len(h) || !h[down].before(last) {
			h[i] = last
			break
		}
		h[i] = h[down]
		i = down
	}
	return first
}
