package leasetest

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

// A Backend is the store of leases that the laws test. Hooks report failures to their t.
type Backend struct {
	// Open returns a handle as another process would have it, with connections of its own. It is
	// called several times for one law, from the law's goroutine. The handles share their records.
	// Backends may share them, too, because every law uses names of its own. Required.
	Open func(t *testing.T) lease.Store

	// TTL is the TTL of the laws' leases. The default is 2 s. A shorter TTL makes the laws faster,
	// and more likely to fail on a busy machine. Set the smallest TTL with which the backend works
	// reliably.
	TTL time.Duration

	// Slack is how much later than TTL an unrenewed lease may become free. The default is a quarter
	// of TTL, and what a busy machine needs.
	Slack time.Duration

	// Outage makes the backend unreachable for all handles until end is called. The records
	// are kept. Optional.
	Outage func(t *testing.T) (end func())

	// Restart stops the backend and starts it again, in much less than TTL. Optional.
	Restart func(t *testing.T)

	// Delete removes the record of a name, as an operator would. Optional.
	Delete func(t *testing.T, name string)

	// Usurp makes another holder the holder of a name, whether or not the name is held. Optional.
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

// RunInBubble checks the backends that open returns, each law in a synctest bubble of its own, in
// virtual time. The goroutines of a backend must block as package testing/synctest requires, and
// end with the test.
func RunInBubble(t *testing.T, open func(t *testing.T) Backend) {
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { l.check(newEnv(t, open(t), true)) })
		})
	}
}

type law struct {
	name  string
	alone bool // it disturbs what other laws use
	check func(*env)
}

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
