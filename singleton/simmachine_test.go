package singleton

import (
	"errors"

	"github.com/understudy-go/understudy/internal/node"
)

// happened gives ev to the machine and does what it says.
func (n *simNode) happened(ev event) {
	for _, a := range n.machine.step(ev, n.clock()) {
		n.do(a)
	}
	n.sim.noteFinish(n)
	n.post.reroute()
	n.plan()
	n.checkDrained()
}

// plan wakes the machine when it wants to.
func (n *simNode) plan() {
	at := n.machine.wake()
	if at.IsZero() || at.Equal(n.wakeAt) {
		return
	}
	n.wakeAt = at
	n.in(max(0, at.Sub(n.clock())), func() {
		if n.wakeAt.Equal(at) {
			n.wakeAt = n.wakeAt.Add(-1)
			if due := n.machine.wake(); !due.IsZero() {
				n.happened(ticked{})
			}
		}
	})
}

func (n *simNode) do(a action) {
	switch a := a.(type) {
	case sendRequest:
		n.send(a.to, requested{from: n.id, attempt: a.attempt, term: a.term})
	case sendGrant:
		n.send(a.to, granted{from: n.id, attempt: a.attempt, record: a.record, taken: a.taken})
	case sendHeldUp, reportStuck: // for people
	case startInstance:
		n.start(a.gen)
	case stopInstance:
		if n.inst != nil { // else its end is on its way
			n.inst.stop(a.now)
		}
	case saveRecord:
		n.record = n.record.Merge(a.record)
	case acquireLease:
		n.acquire(a)
	case releaseLease:
		n.keeper.release(func(ok bool) { n.happened(leaseReleased{simNoAnswer(ok)}) })
	case claimTerm:
		n.claim(a)
	}
}

// claim asks the source for a term, which leaves one out now and then.
func (n *simNode) claim(a claimTerm) {
	s, term := n.sim, uint64(0)
	n.call(func() {
		s.source = max(s.source, a.floor) + 1
		if s.chance(0.2) {
			s.source++
		}
		term = s.source
	}, func(ok bool) {
		n.happened(claimed{number: a.number, term: term, err: simNoAnswer(ok)})
	})
}

func (n *simNode) acquire(a acquireLease) {
	n.keeper.acquire(a.floor, func(held, known bool) {
		n.happened(leaseAnswered{number: a.number, held: held, token: n.keeper.token, err: simNoAnswer(known)})
	})
}

func simNoAnswer(known bool) error {
	if known {
		return nil
	}
	return errors.New("no answer")
}

// send carries a message of the protocol to one incarnation: along the connection, behind
// what was told before. Where there is worse than leaves it goes by itself, and may be lost
// or come twice, which is harder than a connection is.
func (n *simNode) send(id node.ID, ev event) {
	if n.sim.plan.graceful {
		n.post.carry(id, -1, func(to *simNode, _ node.ID) {
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
