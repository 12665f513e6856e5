package leasetest

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

// A Backend is what keeps the records of leases, as the laws see it. Hooks report
// failures to their t.
type Backend struct {
	// Open returns a handle as another process would have it, with connections of its own.
	// It is called several times for one law, from the law's goroutine. The handles share
	// their records; those of another Backend may be the same, as every law makes names up.
	Open func(t *testing.T) lease.Store

	// TTL is that of the leases of the laws; 0 means 2 s. The shorter, the faster they are,
	// and the more they ask of a machine that is busy. State the smallest with which the
	// backend is at ease.
	TTL time.Duration

	// Slack is how much later than TTL a lease may be free that nobody renews; 0 means a
	// quarter of TTL, and what a busy machine needs.
	Slack time.Duration

	// Outage makes the backend unreachable for all handles until end is called. The records
	// are kept. Optional.
	Outage func(t *testing.T) (end func())

	// Restart stops the backend and starts it again, in much less than TTL. Optional.
	Restart func(t *testing.T)

	// Delete removes the record of a name, as an operator would. Optional.
	Delete func(t *testing.T, name string)

	// Usurp makes somebody else the holder of a name, whoever holds it. Optional.
	Usurp func(t *testing.T, name string)
}

// Run checks the backends that open returns, in real time. Most laws run in parallel with
// each other; those that use Outage or Restart run alone, before them.
func Run(t *testing.T, open func(t *testing.T) Backend) {
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			if !l.alone {
				t.Parallel()
			}
			l.check(newEnv(t, open(t), false))
		})
	}
}

// RunInBubble checks the backends that open returns, each law in a bubble of its own, in
// which time is virtual. The goroutines of a backend must block as package
// testing/synctest wants it, and be gone when the test has ended.
func RunInBubble(t *testing.T, open func(t *testing.T) Backend) {
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { l.check(newEnv(t, open(t), true)) })
		})
	}
}

// A law is something that is true of every store.
type law struct {
	name  string
	alone bool // as it disturbs what other laws use, too
	check func(*env)
}

// laws returns those that run alone first.
func laws() []law {
	all := slices.Concat(takeLaws, expiryLaws, tokenLaws, nameLaws, endLaws, keepLaws, lossLaws, clockLaws, contestLaws)
	slices.SortStableFunc(all, func(a, b law) int {
		switch {
		case a.alone == b.alone:
			return 0
		case a.alone:
			return -1
		default:
			return 1
		}
	})
	return all
}
