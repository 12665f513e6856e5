package handover

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/singleton/generation"
)

// acquisition is what happens between permission and hosting when the singleton has a lease, or
// terms from a source: both are acquired outside of the cluster.
type acquisition struct {
	number    uint64 // of the question under way, or of the last one; answers to others are ignored
	asked     question
	held      bool   // this node holds the lease
	token     uint64 // the lease's
	claim     uint64 // the term that the source has given for this start, 0 when none
	releasing bool   // the lease is being released; waiters are granted afterwards
	retryAt   time.Time
	failures  int   // of the source, in a row
	obstacle  error // why the last question failed
}

// A question is what is under way.
type question uint8

const (
	nothingAsked question = iota
	leaseAsked
	termAsked
)

// claimBackoff is the delay after a source of terms has failed.
var claimBackoff = actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second}

// MaxTerm is the greatest term that can be packed into a generation. Members ignore records of
// higher ones.
const MaxTerm = math.MaxUint32

// ErrLeaseLost is the obstacle when the instance noticed first that the lease was lost. Package
// singleton exports it.
var ErrLeaseLost = errors.New("singleton: the lease was lost")

// errHeld is the obstacle when another node certainly holds the lease.
var errHeld = errors.New("the lease is held by another")

// Lease returns what is known of the lease: whether this node holds it and its token, whether it is
// being released, why it or the term has not been acquired, and when that is tried again.
func (m *Machine) Lease() (held bool, token uint64, releasing bool, obstacle error, retryAt time.Time) { //nolint:revive // the obstacle is a value here, not a failure of Lease
	a := &m.outside
	return a.held, a.token, a.releasing, a.obstacle, a.retryAt
}

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
	case a.asked != nothingAsked || a.releasing || now.Before(a.retryAt):
		return nil
	case m.asking.term <= m.terms.highest():
		return m.ask(now)
	case m.cfg.Leased && (!a.held || a.token < m.asking.term):
		return []Action{AcquireLease{Number: a.next(leaseAsked), Floor: m.asking.term - 1}}
	case m.cfg.Sourced && a.claim < m.leastTerm():
		return []Action{ClaimTerm{Number: a.next(termAsked), Floor: m.leastTerm() - 1}}
	}
	m.asking.term = max(m.leastTerm(), a.claim)
	return m.becomeHost(now)
}

// leastTerm is the term that permission was asked for, or the lease's token if that is higher.
func (m *Machine) leastTerm() uint64 {
	if m.cfg.Leased {
		return max(m.asking.term, m.outside.token)
	}
	return m.asking.term
}

// next begins a question.
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
	a.held, a.token, a.obstacle = ev.Held, ev.Token, ev.Err
	if !ev.Held {
		if ev.Err == nil {
			a.obstacle = errHeld
		}
		a.retryAt = now.Add(m.cfg.LeaseRetry)
		return nil
	}
	if ev.Token > MaxTerm {
		a.obstacle = fmt.Errorf("the token of the lease is %d: %w", ev.Token, generation.ErrOverflow)
		a.retryAt = now.Add(m.cfg.LeaseRetry)
		return m.release()
	}
	return m.advance(now)
}

func (m *Machine) onClaimed(ev TermClaimed, now time.Time) []Action {
	a := &m.outside
	if !a.answered(termAsked, ev.Number) {
		return nil
	}
	switch least := m.leastTerm(); {
	case ev.Err != nil:
	case ev.Term < least:
		ev.Err = fmt.Errorf("the source of generations returned term %d, which is not above %d", ev.Term, least-1)
	case ev.Term > MaxTerm:
		ev.Err = fmt.Errorf("the source of generations returned term %d: %w", ev.Term, generation.ErrOverflow)
	}
	if a.obstacle = ev.Err; ev.Err != nil {
		a.retryAt = now.Add(claimBackoff.Delay(a.failures))
		a.failures++
		return nil
	}
	a.failures = 0
	a.claim = ev.Term
	return m.advance(now)
}

// onLeaseLost stops the instance at once, also one that is stopping already.
func (m *Machine) onLeaseLost(ev LeaseLost, now time.Time) []Action {
	if !m.outside.held {
		return nil
	}
	m.loseLease(ev.Reason, now)
	switch m.phase {
	case Host:
		return m.stopFor(Stopping, true, now)
	case HandingOver, Stopping:
		if m.alive {
			return []Action{StopInstance{AtOnce: true}}
		}
	case Pending, Standby, Asking, Acquiring, Ended:
	}
	return nil
}

func (m *Machine) loseLease(reason error, now time.Time) {
	a := &m.outside
	a.asked, a.held, a.obstacle = nothingAsked, false, reason
	a.retryAt = now.Add(m.cfg.LeaseRetry)
}

// release releases the lease, or cancels the question for it.
func (m *Machine) release() []Action {
	a := &m.outside
	mine := a.held || a.asked == leaseAsked
	a.asked, a.held, a.claim, a.failures = nothingAsked, false, 0, 0
	if !mine {
		return nil
	}
	a.releasing = true
	return []Action{ReleaseLease{}}
}

// onReleased grants the requests that have waited for the lease to be free.
func (m *Machine) onReleased(now time.Time) []Action {
	a := &m.outside
	if !a.releasing {
		return nil
	}
	a.releasing = false
	var out []Action
	if !m.Occupied() {
		out = m.grantWaiters()
	}
	return append(out, m.review(now)...)
}
