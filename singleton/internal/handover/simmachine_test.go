package handover

import (
	"errors"
	"time"

	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// happened gives ev to the machine and does what it says.
func (n *simNode) happened(ev Event) {
	for _, a := range n.machine.Step(ev, n.clock()) {
		n.do(a)
	}
	n.sim.noteFinish(n)
	n.post.reroute()
	n.plan()
	n.checkDrained()
}

func (n *simNode) plan() {
	at := n.machine.Wake()
	if at.IsZero() || at.Equal(n.wakeAt) {
		return
	}
	n.wakeAt = at
	n.in(max(0, at.Sub(n.clock())), func() {
		if n.wakeAt.Equal(at) {
			n.wakeAt = n.wakeAt.Add(-1)
			if due := n.machine.Wake(); !due.IsZero() {
				n.happened(Ticked{})
			}
		}
	})
}

func (n *simNode) do(a Action) {
	switch a := a.(type) {
	case Send:
		if _, heldUp := a.Message.(wire.Message[wire.HeldUp]); !heldUp { // it is for people
			n.send(a.Message.Head().To, Received(a))
		}
	case ReportStuck: // for people
	case StartInstance:
		n.start(a.Generation)
	case StopInstance:
		if n.inst != nil { // else its end is on its way
			n.inst.stop(a.AtOnce)
		}
	case SaveRecord:
		n.record = n.record.Merge(a.Record)
	case AcquireLease:
		n.acquire(a)
	case ReleaseLease:
		n.keeper.release(func(ok bool) { n.happened(LeaseReleased{simNoAnswer(ok)}) })
	case ClaimTerm:
		n.claim(a)
	}
}

func (n *simNode) claim(a ClaimTerm) {
	s, term := n.sim, uint64(0)
	n.call(func() {
		s.source = max(s.source, a.Floor) + 1
		if s.chance(0.2) {
			s.source++
		}
		term = s.source
	}, func(ok bool) {
		n.happened(TermClaimed{Number: a.Number, Term: term, Err: simNoAnswer(ok)})
	})
}

// acquire asks for the lease. The answer may reach the machine after the loss of what was won.
func (n *simNode) acquire(a AcquireLease) {
	n.keeper.acquire(a.Floor, func(held, known bool) {
		late, token := time.Duration(0), n.keeper.token
		if n.sim.plan.late && n.sim.chance(0.2) {
			late = n.sim.upTo(2 * simLeaseTTL)
		}
		n.in(late, func() {
			n.happened(LeaseAnswered{Number: a.Number, Held: held, Token: token, Err: simNoAnswer(known)})
		})
	})
}

func simNoAnswer(known bool) error {
	if known {
		return nil
	}
	return errors.New("no answer")
}

// send carries a message of the protocol to one incarnation: along the connection, after earlier
// messages. In schedules with worse faults than leaves, it travels by itself and may be lost or
// doubled, which is harder than a connection.
func (n *simNode) send(id remote.NodeID, ev Event) {
	if n.sim.plan.graceful {
		n.post.carry(id, -1, func(to *simNode, _ remote.NodeID) {
			if to.id == id {
				to.happened(ev)
			}
		})
		return
	}
	to := n.sim.at(id.Address)
	n.sim.carry(n, to, func() {
		if to.id == id {
			to.happened(ev)
		}
	})
}
