package handover

import (
	"time"

	"github.com/understudy-go/understudy/internal/tenure"
)

// A simInstance claims its epoch, then acts every 40 to 120 ms: it checks whether it may act, and
// writes a moment later.
type simInstance struct {
	node    *simNode
	gen     tenure.Generation // as its context has it: the journal may raise it
	order   int               // of all instances ever, by their start
	cluster uint32            // where members have agreed on the generation
	asked   tenure.Generation // under which it was started
	claim   uint64            // of the journal

	ready   bool
	acting  bool // while claiming, and between looking and the end of writing
	dying   bool // it has been told to stop at once
	ending  bool // it has been told to stop
	over    bool
	wanted  bool // the end is
	acted   bool
	overdue bool // the end comes as soon as the act is over
	last    InstanceEnded
	box     []int
}

func (n *simNode) start(gen tenure.Generation) {
	s := n.sim
	if s.plan.mode.leased() && !n.keeper.valid() {
		n.in(0, func() { n.happened(InstanceEnded{LeaseLost: true}) })
		return
	}
	s.found.starts++
	i := &simInstance{node: n, cluster: n.table.cluster, gen: gen, asked: gen, order: s.found.starts}
	s.note(n, "starts %v", gen)
	n.inst = i
	s.checkGeneration(i)
	s.account()
	s.checkOverlap(n)
	n.in(s.upTo(20*time.Millisecond), i.begin)
	if !s.quiet && !s.plan.graceful && s.chance(0.2) {
		n.in(s.upTo(10*time.Second), func() { i.end(InstanceEnded{}) })
	}
}

// begin claims the journal, if there is one. An instance that is stopped meanwhile waits for the
// answer.
func (i *simInstance) begin() {
	if i.over {
		return
	}
	if !i.node.sim.plan.mode.fenced() {
		i.goOn()
		return
	}
	i.acting = true
	var refusedBy uint64
	i.node.call(func() { i.claim, refusedBy = i.node.sim.journal.claim(i) }, func(ok bool) {
		i.acting = false
		switch {
		case i.over:
		case i.overdue:
			i.end(i.last)
		case !ok:
			i.end(InstanceEnded{})
		case refusedBy > 0:
			i.end(InstanceEnded{Fenced: true, FencedBy: refusedBy})
		default:
			i.gen = newerOf(i.gen, tenure.Unpack(i.claim))
			i.node.sim.raised(i)
			i.node.happened(FenceHeld{Started: i.asked, Raised: i.gen})
			i.goOn()
		}
	})
}

// before reports whether another instance is to take the place of this one.
func (i *simInstance) before(o *simInstance) bool {
	if i.cluster != o.cluster && !i.node.sim.plan.mode.leased() {
		return i.cluster < o.cluster
	}
	return i.gen.Less(o.gen)
}

func newerOf(a, b tenure.Generation) tenure.Generation {
	if a.Less(b) {
		return b
	}
	return a
}

func (i *simInstance) goOn() {
	i.ready = true
	i.node.post.reroute()
	i.node.in(2*time.Millisecond, i.handle)
	i.rest()
}

func (i *simInstance) rest() {
	i.node.in(i.node.sim.between(40*time.Millisecond, 120*time.Millisecond), i.act)
}

func (i *simInstance) act() {
	if i.over || i.dying {
		return
	}
	if !i.valid() {
		i.end(InstanceEnded{LeaseLost: true})
		return
	}
	n := i.node
	i.acting = true
	n.in(n.sim.between(100*time.Microsecond, 4*time.Millisecond), func() {
		verdict := simUnknown
		n.call(func() { verdict = n.sim.journal.append(i) }, func(ok bool) {
			i.acting = false
			switch {
			case i.over:
			case i.overdue:
				i.end(i.last)
			case !ok:
				i.end(InstanceEnded{})
			case verdict == simRefused:
				i.end(InstanceEnded{Fenced: true, FencedBy: tenure.Unpack(n.sim.journal.epoch).Term})
			default:
				i.rest()
			}
		})
	})
}

// valid reports whether the lease is valid; true without a lease.
func (i *simInstance) valid() bool { return !i.node.sim.plan.mode.leased() || i.node.keeper.valid() }

// runs reports whether the instance can do something now.
func (i *simInstance) runs() bool { return !i.over && !i.node.paused && i.valid() }

func (i *simInstance) tell(msg int) { i.box = append(i.box, msg) }

// handle takes messages from time to time, so that some are always waiting.
func (i *simInstance) handle() {
	if i.over {
		return
	}
	if len(i.box) > 0 && !i.valid() {
		i.end(InstanceEnded{LeaseLost: true})
		return
	}
	if !i.dying {
		for _, msg := range i.box {
			i.node.sim.fate(msg, simHandled)
		}
		i.box = i.box[:0]
		if i.ending {
			return
		}
	}
	i.node.in(20*time.Millisecond, i.handle)
}

// stop ends the instance in its time; one in ten takes longer than it may.
func (i *simInstance) stop(now bool) {
	s := i.node.sim
	i.wanted = true
	how := InstanceEnded{Finished: s.plan.atStop && s.now > simFormed+s.plan.finish}
	switch takes := time.Duration(s.rng.ExpFloat64() * float64(20*time.Millisecond)); {
	case now && !i.dying:
		i.dying = true
		if s.chance(0.1) {
			takes = s.upTo(simLastStop)
		}
		i.node.in(min(takes, simLastStop), func() { i.end(InstanceEnded{}) })
	case !now:
		if !s.plan.graceful && s.chance(0.1) {
			takes = s.upTo(2 * simStop)
		}
		i.node.in(takes, func() {
			i.ending = true
			i.handle()
			i.end(how)
		})
	}
}

func (i *simInstance) end(how InstanceEnded) {
	switch {
	case i.over:
		return
	case i.acting:
		i.overdue, i.last = true, how
		return
	}
	n := i.node
	i.over = true
	n.inst = nil
	n.sim.note(n, "%v has ended", i.gen)
	n.sim.account()
	n.post.lose(i.box, simUnhandled)
	n.happened(how)
	n.afterView()
}

// call sends a request to the journal or store: at runs there, then back runs here, unless one of
// the ways is cut. ok is false when the outcome is unknown.
func (n *simNode) call(at func(), back func(ok bool)) {
	s, done, proc := n.sim, false, n.proc
	finish := func(ok bool) {
		if !done {
			done = true
			back(ok)
		}
	}
	n.in(time.Second, func() { finish(false) })
	s.in(s.delay(), func() {
		if s.noStore[n.index] > 0 {
			return
		}
		at()
		s.in(s.delay(), func() {
			if s.noStore[n.index] == 0 && n.proc == proc {
				n.awake(func() { finish(true) })
			}
		})
	})
}
