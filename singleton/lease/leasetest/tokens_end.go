package leasetest

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

// TokensEnd raises a lease of store to its last token by a floor. It requires that the next
// acquisition fails with overflow, and that no lower token is granted. The lease has the name of t.
func TokensEnd(t *testing.T, store lease.Store, overflow error) {
	t.Helper()
	c := lease.Claim{Name: t.Name(), Holder: "a", TTL: time.Minute, Floor: math.MaxUint64}
	_, err := store.Take(t.Context(), c)
	require.ErrorIs(t, err, overflow)
	c.Floor--
	grant, err := store.Take(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, uint64(math.MaxUint64), grant.Token)
	require.NoError(t, store.Release(t.Context(), grant))
	_, err = store.Take(t.Context(), lease.Claim{Name: t.Name(), Holder: "b", TTL: time.Minute})
	require.ErrorIs(t, err, overflow)
}
