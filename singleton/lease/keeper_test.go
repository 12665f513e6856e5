package lease_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

// losses counts how often l was lost, and keeps the last reason.
type losses struct {
	count  atomic.Int32
	reason atomic.Value
}

func lossesOf(l lease.Lease) *losses {
	var n losses
	l.OnLost(func(reason error) {
		n.reason.Store(reason)
		n.count.Add(1)
	})
	return &n
}

func acquire(t *testing.T, l lease.Lease) {
	t.Helper()
	ok, err := l.Acquire(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
}

func TestALeaseIsKeptUntilItIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		a, b := store.Lease("x", "a", 120*time.Millisecond), store.Lease("x", "b", 120*time.Millisecond)
		lost := lossesOf(a)
		acquire(t, a)
		time.Sleep(time.Hour)
		require.True(t, a.Valid())
		ok, err := b.Acquire(t.Context())
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, a.Release(t.Context()))
		require.False(t, a.Valid())
		acquire(t, b)
		require.Greater(t, b.Token(), a.Token())
		require.NoError(t, b.Release(t.Context()))
		require.Zero(t, lost.count.Load())
	})
}

func TestALeaseIsLostBeforeItExpiresWhenTheStoreIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		l := store.Lease("x", "a", 10*time.Second)
		lost := lossesOf(l)
		acquire(t, l)
		outage := errors.New("cable cut")
		store.SetOutage(outage)
		time.Sleep(9*time.Second - 1)
		require.True(t, l.Valid())
		time.Sleep(2)
		require.False(t, l.Valid())
		require.NotEmpty(t, store.Inspect("x").Holder)
		synctest.Wait()
		require.EqualValues(t, 1, lost.count.Load())
		require.ErrorIs(t, lost.reason.Load().(error), lease.ErrExpired)
		require.ErrorIs(t, lost.reason.Load().(error), outage)
		store.SetOutage(nil)
		before := l.Token()
		acquire(t, l)
		require.Greater(t, l.Token(), before)
		require.NoError(t, l.Release(context.Background()))
		require.Empty(t, store.Inspect("x").Holder)
	})
}
