package singleton

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/singleton/generation"
)

// acquisition is what comes between permission and hosting where the singleton has a
// lease, or terms from a source: both are asked for outside of the cluster.
type acquisition struct {
	number    uint64 // of the question under way, or of the last one; answers to others count for nothing
	asked     question
	held      bool   // the lease is ours
	token     uint64 // the lease's
	claim     uint64 // term that the source has given for this start, 0 when none
	releasing bool   // the lease is being given back; who waits for that is granted afterwards
	retryAt   time.Time
	failures  int   // of the source, in a row
	obstacle  error // why the last question was in vain
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

// maxTerm is the greatest term that can be packed; members refuse records of others.
const maxTerm = math.MaxUint32

// errHeld is the obstacle when the lease is certainly another's.
var errHeld = errors.New("the lease is held by another")

// acquire goes on from permission, by way of lease and source, to hosting.
func (m *machine) acquire(now time.Time) []action {
	if !m.set.leased() && !m.set.sourced() {
		return m.becomeHost(now)
	}
	m.phase = Acquiring
	return m.advance(now)
}

// advance asks for what is missing, or hosts. The floors are such that the term stays
// above every one that has been heard of; when it is not, permission for a higher one is
// asked for first.
func (m *machine) advance(now time.Time) []action {
	a := &m.outside
	switch {
	case a.asked != nothingAsked || a.releasing || now.Before(a.retryAt):
		return nil
	case m.term <= m.highestTerm():
		return m.ask(now)
	case m.set.leased() && (!a.held || a.token < m.term):
		return []action{acquireLease{number: a.next(leaseAsked), floor: m.term - 1}}
	case m.set.sourced() && a.claim < m.leastTerm():
		return []action{claimTerm{number: a.next(termAsked), floor: m.leastTerm() - 1}}
	}
	m.term = max(m.leastTerm(), a.claim)
	return m.becomeHost(now)
}

// leastTerm is the term that permission was asked for, or the lease's token.
func (m *machine) leastTerm() uint64 {
	if m.set.leased() {
		return max(m.term, m.outside.token)
	}
	return m.term
}

// next begins a question.
func (a *acquisition) next(q question) uint64 {
	a.number++
	a.asked = q
	return a.number
}

// answered ends it, if it is the one of that number.
func (a *acquisition) answered(q question, number uint64) bool {
	if a.asked != q || a.number != number { // given up since, and given back
		return false
	}
	a.asked = nothingAsked
	return true
}

func (m *machine) onLeaseAnswered(ev leaseAnswered, now time.Time) []action {
	a := &m.outside
	if !a.answered(leaseAsked, ev.number) {
		return nil
	}
	a.held, a.token, a.obstacle = ev.held, ev.token, ev.err
	if !ev.held {
		if ev.err == nil {
			a.obstacle = errHeld
		}
		a.retryAt = now.Add(m.set.leaseRetry)
		return nil
	}
	if ev.token > maxTerm {
		a.obstacle = fmt.Errorf("the token of the lease is %d: %w", ev.token, generation.ErrOverflow)
		a.retryAt = now.Add(m.set.leaseRetry)
		return m.release()
	}
	return m.advance(now)
}

func (m *machine) onClaimed(ev claimed, now time.Time) []action {
	a := &m.outside
	if !a.answered(termAsked, ev.number) {
		return nil
	}
	switch least := m.leastTerm(); {
	case ev.err != nil:
	case ev.term < least:
		ev.err = fmt.Errorf("the source of generations returned term %d, which is not above %d", ev.term, least-1)
	case ev.term > maxTerm:
		ev.err = fmt.Errorf("the source of generations returned term %d: %w", ev.term, generation.ErrOverflow)
	}
	if a.obstacle = ev.err; ev.err != nil {
		a.retryAt = now.Add(claimBackoff.Delay(a.failures))
		a.failures++
		return nil
	}
	a.failures = 0
	a.claim = ev.term
	return m.advance(now)
}

// onLeaseLost ends the instance at once, wherever it was on its way.
func (m *machine) onLeaseLost(ev leaseLost, now time.Time) []action {
	if !m.outside.held {
		return nil
	}
	m.loseLease(ev.reason, now)
	switch m.phase {
	case Host:
		return m.stopFor(Stopping, true, now)
	case HandingOver, Stopping:
		if m.alive {
			return []action{stopInstance{now: true}}
		}
	case Pending, Standby, Asking, Acquiring, Ended:
	}
	return nil
}

func (m *machine) loseLease(reason error, now time.Time) {
	a := &m.outside
	a.asked, a.held, a.obstacle = nothingAsked, false, reason
	a.retryAt = now.Add(m.set.leaseRetry)
}

// release gives back the lease, or what may still come of asking for it.
func (m *machine) release() []action {
	a := &m.outside
	mine := a.held || a.asked == leaseAsked
	a.asked, a.held, a.claim, a.failures = nothingAsked, false, 0, 0
	if !mine {
		return nil
	}
	a.releasing = true
	return []action{releaseLease{}}
}

// onReleased permits those who have waited for the lease to be free.
func (m *machine) onReleased(now time.Time) []action {
	a := &m.outside
	if !a.releasing {
		return nil
	}
	a.releasing = false
	var out []action
	if !m.occupied() {
		out = m.grantWaiters()
	}
	return append(out, m.review(now)...)
}
