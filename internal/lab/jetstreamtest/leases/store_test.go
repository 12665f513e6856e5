package leases

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/cutproxy"
	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

func patient(t *testing.T, patience time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually repeats what nobody knows the outcome of, as a holder does.
func eventually(t *testing.T, f func(context.Context) error) {
	t.Helper()
	for ctx := patient(t, time.Minute); ; {
		err := f(patient(t, 2*time.Second))
		if err == nil {
			return
		}
		require.NotErrorIs(t, err, lease.ErrLost)
		require.NotErrorIs(t, err, lease.ErrHeld)
		require.NoError(t, ctx.Err(), "%v", err)
	}
}

// renewed renews a lease, however long that takes.
func renewed(t *testing.T, s lease.Store, g lease.Grant) (next lease.Grant) {
	t.Helper()
	eventually(t, func(ctx context.Context) (err error) { next, err = s.Renew(ctx, g); return err })
	return next
}

// unknown requires an error that leaves open whether the lease is held.
func unknown(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.NotErrorIs(t, err, lease.ErrHeld)
	require.NotErrorIs(t, err, lease.ErrLost)
}

func TestALeaseAndItsTokenSurviveTheServers(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			c := start(t, n)
			store := c.open(t, "leases")
			first, err := store.Take(t.Context(), claim("job", "a"))
			require.NoError(t, err)

			again := c.outage(t)
			_, err = store.Renew(patient(t, 200*time.Millisecond), first)
			unknown(t, err)
			again()

			eventually(t, func(ctx context.Context) error {
				_, err := store.Take(ctx, claim("job", "b"))
				if errors.Is(err, lease.ErrHeld) {
					return nil
				}
				require.Error(t, err)
				return err
			})
			first = renewed(t, store, first)
			eventually(t, func(ctx context.Context) error { return store.Release(ctx, first) })
			var second lease.Grant
			eventually(t, func(ctx context.Context) error { second, err = store.Take(ctx, claim("job", "b")); return err })
			require.Greater(t, second.Token, first.Token)
		})
	}
}

// Each server goes once while it leads, with the lease held throughout.
func TestTheServerThatLeadsMayGo(t *testing.T) {
	t.Parallel()
	c := start(t, 3)
	holder, rival := c.open(t, "leases"), c.open(t, "leases")
	grant, err := holder.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	token := grant.Token
	for range 3 {
		leads := c.leader(t, "leases")
		c.stop(leads)
		began := time.Now()
		grant = renewed(t, holder, grant)
		t.Logf("renewed %v after the leader was stopped", time.Since(began).Round(time.Millisecond))
		_, err = rival.Take(patient(t, time.Minute), claim("job", "b"))
		require.ErrorIs(t, err, lease.ErrHeld)
		c.run(t, leads)
		c.current(t, "leases")
	}
	require.Equal(t, token, grant.Token)
	eventually(t, func(ctx context.Context) error { return holder.Release(ctx, grant) })
	eventually(t, func(ctx context.Context) error { grant, err = rival.Take(ctx, claim("job", "b")); return err })
	require.Greater(t, grant.Token, token)
}

func TestAServerThatIsSilentHoldsUpNobodyBeyondTheContext(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	proxy, err := cutproxy.Start(c.addr(0))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	store := openAt(t, "nats://"+proxy.Addr(), jetstream.LeasesConfig{Replicas: 1})
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)

	proxy.LoseAnswers(true)
	const patience = 200 * time.Millisecond
	for name, ask := range map[string]func(context.Context) error{
		"take":    func(ctx context.Context) error { _, err := store.Take(ctx, claim("job", "b")); return err },
		"renew":   func(ctx context.Context) error { _, err := store.Renew(ctx, grant); return err },
		"release": func(ctx context.Context) error { return store.Release(ctx, lease.Grant{Claim: claim("job", "b")}) },
	} {
		began := time.Now()
		err := ask(patient(t, patience))
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		unknown(t, err)
		require.Less(t, time.Since(began), patience+10*time.Second, name)
	}
	proxy.Cut()
	proxy.LoseAnswers(false)
	renewed(t, store, grant)
	_, err = store.Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
}

func TestTokensEndWithAClearError(t *testing.T) {
	t.Parallel()
	leasetest.TokensEnd(t, start(t, 1).open(t, "leases"), jetstream.ErrOverflow)
}

func TestEveryNameIsAnother(t *testing.T) {
	t.Parallel()
	store := start(t, 1).open(t, "leases")
	names := []string{
		"", "a", "A", "a.holder", "holder.a", "token.a", "a.b", "*", ">", "a b", "ä", "a\u0308", "\x00", "\xff",
		strings.Repeat("日", 66), strings.Repeat("*", 200),
	}
	for i, name := range names {
		_, err := store.Take(t.Context(), claim(name, fmt.Sprint("holder", i)))
		require.NoError(t, err, "%q", name)
	}
	for _, name := range names {
		_, err := store.Take(t.Context(), claim(name, "another"))
		require.ErrorIs(t, err, lease.ErrHeld, "%q", name)
	}
}

func TestTokensGrowWhateverIsDeleted(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	store, kv := c.open(t, "leases"), c.bucket(t, "leases")
	stream, err := client(t, connect(t, c.urls())).Stream(t.Context(), "KV_leases")
	require.NoError(t, err)
	last := uint64(0)
	for _, remove := range []func() error{
		func() error { return kv.Delete(t.Context(), "holder.job") },
		func() error { return kv.Purge(t.Context(), "token.job") },
		func() error {
			return errors.Join(kv.Purge(t.Context(), "holder.job"), kv.Delete(t.Context(), "token.job"))
		},
		func() error { return stream.Purge(t.Context()) }, // without a trace
	} {
		grant, err := store.Take(t.Context(), claim("job", "a"))
		require.NoError(t, err)
		require.Greater(t, grant.Token, last)
		last = grant.Token
		require.NoError(t, store.Release(t.Context(), grant))
		require.NoError(t, remove())
		_, err = store.Renew(t.Context(), grant)
		require.ErrorIs(t, err, lease.ErrLost)
	}
	grant, err := c.open(t, "leases").Take(t.Context(), claim("job", "b"))
	require.NoError(t, err)
	require.Greater(t, grant.Token, last)

	_, err = kv.PutString(t.Context(), "holder.other", "somebody")
	require.NoError(t, err)
	_, err = store.Take(t.Context(), claim("other", "a"))
	require.ErrorContains(t, err, "give Open another Bucket")
}
