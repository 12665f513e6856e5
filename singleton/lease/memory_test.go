package lease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

func claim(holder string) lease.Claim {
	return lease.Claim{Name: "x", Holder: holder, TTL: 10 * time.Second}
}

func TestMemoryGoesByItsOwnClock(t *testing.T) {
	store, now := lease.NewMemory(), time.Unix(1_800_000_000, 0)
	store.SetClock(func() time.Time { return now })
	g, err := store.Take(t.Context(), claim("a"))
	require.NoError(t, err)
	now = now.Add(10*time.Second - 1)
	_, err = store.Take(t.Context(), claim("b"))
	require.ErrorIs(t, err, lease.ErrHeld)
	now = now.Add(1)
	_, err = store.Renew(t.Context(), g)
	require.ErrorIs(t, err, lease.ErrLost)
	_, err = store.Take(t.Context(), claim("b"))
	require.NoError(t, err)
}

func TestMemoryShowsWhoHoldsWhat(t *testing.T) {
	store, now := lease.NewMemory(), time.Unix(1_800_000_000, 0)
	store.SetClock(func() time.Time { return now })
	require.Zero(t, store.Inspect("x"))
	g, err := store.Take(t.Context(), claim("a"))
	require.NoError(t, err)
	require.Equal(t, lease.Holding{Holder: "a", Token: 1, Expires: now.Add(10 * time.Second)}, store.Inspect("x"))
	require.NoError(t, store.Release(t.Context(), g))
	require.Equal(t, lease.Holding{Token: 1}, store.Inspect("x"))
	_, err = store.Take(t.Context(), claim("b"))
	require.NoError(t, err)
	now = now.Add(10 * time.Second)
	require.Equal(t, lease.Holding{Token: 2}, store.Inspect("x"))
	store.Usurp("x", "c", time.Second)
	require.Equal(t, lease.Holding{Holder: "c", Token: 3, Expires: now.Add(time.Second)}, store.Inspect("x"))
	store.Delete("x")
	require.Equal(t, lease.Holding{Token: 3}, store.Inspect("x"))
}

func TestMemoryHasFaultsOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		outage := errors.New("flood in the cellar")
		store.SetOutage(outage)
		_, err := store.Take(t.Context(), claim("a"))
		require.ErrorIs(t, err, outage)
		store.SetOutage(nil)
		require.Zero(t, store.Inspect("x").Token)

		store.LoseAnswers(1)
		_, err = store.Take(t.Context(), claim("a"))
		require.ErrorIs(t, err, lease.ErrUnavailable)
		require.Equal(t, "a", store.Inspect("x").Holder)
		g, err := store.Take(t.Context(), claim("a"))
		require.NoError(t, err)

		store.SetDelay(time.Second)
		start := time.Now()
		_, err = store.Renew(t.Context(), g)
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(start))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, store.Release(ctx, g), context.DeadlineExceeded)
		require.Equal(t, time.Second+time.Millisecond, time.Since(start))
		require.Equal(t, "a", store.Inspect("x").Holder)
	})
}

func TestMemoryRefusesSettingsLoudly(t *testing.T) {
	store := lease.NewMemory()
	require.Panics(t, func() { store.Lease("", "a", time.Second) })
	require.Panics(t, func() { store.Lease("x", "", time.Second) })
	require.Panics(t, func() { store.Lease("x", "a", -time.Second) })
}
