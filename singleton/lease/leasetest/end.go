package leasetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

var endLaws = []law{
	{name: "AHolderReleases", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		e.acquired(a)
		e.denied(b)
		require.NoError(e, a.Release(e.Context()))
		require.False(e, a.Valid())
		n := a.link.count()
		require.NoError(e, a.Release(e.Context()), "there is nothing left to release")
		require.Equal(e, n, a.link.count())
		e.acquired(b)
		require.Greater(e, b.Token(), a.Token())
		e.sleep(e.ttl)
		require.Equal(e, n, a.link.count(), "nothing renews what was released")
		require.Empty(e, a.lost())
	}},
	{name: "AReleaseWhoseAnswerIsLostSucceeds", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		e.acquired(a)
		a.link.loseAnswers(1)
		require.NoError(e, a.Release(e.Context()))
		e.acquired(b)
	}},
	{name: "AReleaseThatFailsSaysSo", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		e.acquired(a)
		a.link.cut()
		require.ErrorIs(e, a.Release(e.Context()), errLink)
		require.False(e, a.Valid())
		e.acquires(b, e.ttl+e.slack)
		require.Empty(e, a.lost())
	}},
	{name: "AnAcquireThatIsReleasedMeanwhileIsGivenBack", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		a.link.slow(e.ttl / 8)
		acquired := make(chan error, 1)
		go func() {
			_, err := a.Acquire(e.Context())
			acquired <- err
		}()
		e.eventually(e.slack, "nothing was asked for", func() bool { return a.link.count() > 0 })
		require.NoError(e, a.Release(e.Context()))
		require.ErrorIs(e, <-acquired, lease.ErrReleased)
		require.False(e, a.Valid())
		e.acquired(b)
	}},
	{name: "AnAcquireThatIsCancelledReturnsAtOnceAndIsGivenBack", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		a.link.slow(e.ttl / 5)
		ctx, cancel := context.WithTimeout(e.Context(), e.ttl/20)
		defer cancel()
		start := time.Now()
		held, err := a.Acquire(ctx)
		require.ErrorIs(e, err, context.DeadlineExceeded)
		require.False(e, held)
		require.Less(e, time.Since(start), e.ttl/20+e.slack)
		e.sleep(e.ttl / 5)
		e.eventually(e.ttl/2+e.slack, "the lease that nobody wants was not given back", func() bool {
			ok, err := b.Acquire(e.Context())
			require.NoError(e, err)
			return ok
		})
		require.False(e, a.Valid())
	}},
	{name: "AnAcquireThatNobodyAnswersEnds", check: func(e *env) {
		a := e.holder(e.name("x"), "a")
		a.link.stallDeaf()
		start := time.Now()
		held, err := a.Acquire(e.Context())
		require.Error(e, err)
		require.False(e, held)
		require.Less(e, time.Since(start), e.ttl+e.slack)
		a.link.heal()
		require.NoError(e, a.Release(e.Context()))
	}},
	{name: "AReleaseThatNobodyAnswersEnds", check: func(e *env) {
		a := e.holder(e.name("x"), "a")
		e.acquired(a)
		a.link.stallDeaf()
		start := time.Now()
		require.Error(e, a.Release(e.Context()))
		require.Less(e, time.Since(start), e.ttl+e.slack)
		a.link.heal()
	}},
}
