package handover

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/tenure"
)

// acquisition is what happens between permission and hosting when the singleton has a lease, or
// terms from a source: both are acquired outside of the cluster.
type acquisition struct {
	LeaseStatus
	number   uint64 // of the question under way, or of the last one; answers to others are ignored
	asked    question
	claim    uint64 // the term that the source has given for this start, 0 when none
	failures int    // of the source, in a row
}

// A LeaseStatus is what is known of a singleton's lease.
type LeaseStatus struct {
	Held      bool   // this node holds it
	Token     uint64 // of the last time it was held
	Releasing bool   // it is being released; waiting requests are granted afterwards
	Obstacle  error  // why neither the lease nor a term of the source has been acquired
	RetryAt   time.Time
}

type question uint8

const (
	nothingAsked question = iota
	leaseAsked
	termAsked
)

var claimBackoff = actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second}

// ErrLeaseLost is the obstacle when the instance noticed first that the lease was lost. Package
// singleton exports it.
var ErrLeaseLost = errors.New("singleton: the lease was lost")

// errHeld is the obstacle when another node certainly holds the lease.
var errHeld = errors.New("the lease is held by another")

// acquire continues from permission, by way of lease and source, to hosting.
func (m *Machine) acquire(now time.Time) []Action {
	if !m.cfg.Leased && !m.cfg.Sourced {
		return m.becomeHost(now)
	}
	m.phase = Acquiring
	return m.advance(now)
}

// advance asks for what is missing, or hosts. The floors keep the term above every one that this
// node has heard of; when it is not, permission for a higher one is asked for first.
func (m *Machine) advance(now time.Time) []Action {
	a := &m.outside
	switch {
	case a.asked != nothingAsked || a.Releasing || now.Before(a.RetryAt):
		return nil
	case m.asking.term <= m.terms.highest():
		return m.ask(now)
	case m.cfg.Leased && (!a.Held || a.Token < m.asking.term):
		return []Action{AcquireLease{Number: a.next(leaseAsked), Floor: m.asking.term - 1}}
	}
	// The lease comes before the source, because its token is the floor of the claim. So one term
	// is above the members' terms, the tokens and the source's terms.
	least := max(m.asking.term, a.Token)
	if m.cfg.Sourced && a.claim < least {
		return []Action{ClaimTerm{Number: a.next(termAsked), Floor: least - 1}}
	}
	m.asking.term = max(least, a.claim)
	return m.becomeHost(now)
}

func (a *acquisition) next(q question) uint64 {
	a.number++
	a.asked = q
	return a.number
}

// answered ends the question, if it is the one of that number. Another one was cancelled.
func (a *acquisition) answered(q question, number uint64) bool {
	if a.asked != q || a.number != number {
		return false
	}
	a.asked = nothingAsked
	return true
}

func (m *Machine) onLeaseAnswered(ev LeaseAnswered, now time.Time) []Action {
	a := &m.outside
	if !a.answered(leaseAsked, ev.Number) {
		return nil
	}
	a.Held, a.Token, a.Obstacle = ev.Held, ev.Token, ev.Err
	if !ev.Held {
		if ev.Err == nil {
			a.Obstacle = errHeld
		}
		a.RetryAt = now.Add(m.cfg.LeaseRetry)
		return nil
	}
	if ev.Token > wire.MaxTerm {
		a.Obstacle = fmt.Errorf("the token of the lease is %d: %w", ev.Token, tenure.ErrOverflow)
		a.RetryAt = now.Add(m.cfg.LeaseRetry)
		return a.release()
	}
	return m.advance(now)
}

func (m *Machine) onClaimed(ev TermClaimed, now time.Time) []Action {
	a := &m.outside
	if !a.answered(termAsked, ev.Number) {
		return nil
	}
	switch least := max(m.asking.term, a.Token); {
	case ev.Err != nil:
	case ev.Term < least:
		ev.Err = fmt.Errorf("the journal of terms returned %d, which is not above %d", ev.Term, least-1)
	case ev.Term > wire.MaxTerm:
		ev.Err = fmt.Errorf("the journal of terms returned %d: %w", ev.Term, tenure.ErrOverflow)
	}
	if a.Obstacle = ev.Err; ev.Err != nil {
		a.RetryAt = now.Add(claimBackoff.Delay(a.failures))
		a.failures++
		return nil
	}
	a.failures = 0
	a.claim = ev.Term
	return m.advance(now)
}

// onLeaseLost stops the instance at once, also one that is stopping already.
func (m *Machine) onLeaseLost(ev LeaseLost, now time.Time) []Action {
	if !m.outside.Held {
		return nil
	}
	if m.outside.asked == leaseAsked {
		// It is being acquired above a higher floor, and no instance runs. If the question were
		// dropped, nobody would release what it wins.
		m.outside.Held, m.outside.Obstacle = false, ev.Reason
		return nil
	}
	m.outside.lose(ev.Reason, now.Add(m.cfg.LeaseRetry))
	switch m.phase {
	case Host:
		return m.stopFor(Stopping, true, now)
	case HandingOver, Stopping: // it may have the whole StopTimeout, and the lease may be another's now
		if m.instance.Running {
			return []Action{StopInstance{AtOnce: true}}
		}
	case Pending, Standby, Asking, Acquiring, Ended:
	}
	return nil
}

func (a *acquisition) lose(reason error, retryAt time.Time) {
	a.asked, a.Held, a.Obstacle, a.RetryAt = nothingAsked, false, reason, retryAt
}

// release releases the lease, or cancels the question for it.
func (a *acquisition) release() []Action {
	mine := a.Held || a.asked == leaseAsked
	a.asked, a.Held, a.claim, a.failures = nothingAsked, false, 0, 0
	if !mine {
		return nil
	}
	a.Releasing = true
	return []Action{ReleaseLease{}}
}

func (m *Machine) onReleased(now time.Time) []Action {
	a := &m.outside
	if !a.Releasing {
		return nil
	}
	a.Releasing = false
	var out []Action
	if !m.occupied() {
		out = m.grantWaiters()
	}
	return append(out, m.review(now)...)
}
