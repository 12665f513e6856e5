package etcd_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/etcd"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

const ttl = time.Minute

func claim(name, holder string) lease.Claim {
	return lease.Claim{Name: name, Holder: holder, TTL: ttl}
}

func patient(t *testing.T, patience time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestConformance(t *testing.T) {
	s := shared(t)
	leasetest.Run(t, func(t *testing.T) leasetest.Backend {
		return leasetest.Backend{
			Open:    func(t *testing.T) lease.Store { return s.open(t) },
			TTL:     5 * time.Second,
			Slack:   2 * time.Second, // etcd looks twice a second at what has ended, and revokes then
			Outage:  s.outage,
			Restart: func(t *testing.T) { s.outage(t)() },
			Delete: func(t *testing.T, name string) {
				_, err := connected(t, s).Delete(t.Context(), etcd.DefaultPrefix+"holder/"+name)
				require.NoError(t, err)
			},
			Usurp: func(t *testing.T, name string) {
				c := connected(t, s)
				_, err := c.Delete(t.Context(), etcd.DefaultPrefix+"holder/"+name)
				require.NoError(t, err)
				_, err = s.open(t).Take(t.Context(), claim(name, "usurper"))
				require.NoError(t, err)
			},
		}
	})
}

func TestALeaseAndItsTokenSurviveTheDeathOfTheServer(t *testing.T) {
	s := start(t)
	store := s.open(t)
	first, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)

	s.kill(t)
	_, err = store.Renew(patient(t, time.Second), first)
	require.Error(t, err)
	require.NotErrorIs(t, err, lease.ErrLost, "nobody knows")
	s.run(t)

	_, err = store.Take(patient(t, time.Minute), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
	_, err = store.Renew(t.Context(), first)
	require.NoError(t, err, "its holder goes on")
	require.NoError(t, store.Release(t.Context(), first))
	second, err := store.Take(t.Context(), claim("job", "b"))
	require.NoError(t, err)
	require.Greater(t, second.Token, first.Token)
}

func TestAServerThatIsStoppedHoldsUpNobodyBeyondTheContext(t *testing.T) {
	s := start(t)
	store := s.open(t)
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)

	s.stop(t)
	const patience = 300 * time.Millisecond
	for name, ask := range map[string]func(context.Context) error{
		"take":    func(ctx context.Context) error { _, err := store.Take(ctx, claim("job", "b")); return err },
		"renew":   func(ctx context.Context) error { _, err := store.Renew(ctx, grant); return err },
		"release": func(ctx context.Context) error { return store.Release(ctx, lease.Grant{Claim: claim("job", "b")}) },
	} {
		began := time.Now()
		err := ask(patient(t, patience))
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		require.NotErrorIs(t, err, lease.ErrHeld, name)
		require.NotErrorIs(t, err, lease.ErrLost, name)
		require.Less(t, time.Since(began), patience+10*time.Second, name)
	}
	s.signal(t, syscall.SIGCONT)
	_, err = store.Renew(patient(t, time.Minute), grant)
	require.NoError(t, err)
	_, err = store.Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
}

func TestOfEightContendersOneGetsTheLease(t *testing.T) {
	const contenders = 8
	s := shared(t)
	stores := make([]*etcd.Store, contenders)
	for i := range stores {
		stores[i] = s.open(t, etcd.Prefix(t.Name()+"/"))
	}
	leasetest.Contenders(t, stores, 30)
	client := connected(t, s)
	leases, err := client.Leases(t.Context())
	require.NoError(t, err)
	require.Less(t, len(leases.Leases), contenders, "who comes too late leaves no lease of etcd behind")
}

func TestTokensEndWithAClearError(t *testing.T) {
	leasetest.TokensEnd(t, shared(t).open(t, etcd.Prefix(t.Name()+"/")), etcd.ErrOverflow)
}

func TestEveryNameIsAnother(t *testing.T) {
	store := shared(t).open(t, etcd.Prefix(t.Name()+"/"))
	for i, name := range []string{"", "a", "A", "a/holder", "holder/a", "token/a", "ä", "a\u0308", "\x00", "\xff", strings.Repeat("日", 66)} {
		grant, err := store.Take(t.Context(), claim(name, fmt.Sprint("holder", i)))
		require.NoError(t, err, "%q", name)
		require.EqualValues(t, 1, grant.Token, "%q", name)
	}
}

func TestAKeyThatSomebodyDeletesIsALeaseLost(t *testing.T) {
	s := shared(t)
	store := s.open(t, etcd.Prefix(t.Name()+"/"))
	client := connected(t, s)
	first, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	_, err = client.Delete(t.Context(), t.Name()+"/holder/job")
	require.NoError(t, err)
	_, err = store.Renew(t.Context(), first)
	require.ErrorIs(t, err, lease.ErrLost)

	second, err := store.Take(t.Context(), claim("job", "b"))
	require.NoError(t, err)
	_, err = store.Renew(t.Context(), first)
	require.ErrorIs(t, err, lease.ErrLost)
	require.NoError(t, store.Release(t.Context(), first))
	_, err = store.Renew(t.Context(), second)
	require.NoError(t, err, "a release of the former holder does not touch it")

	_, err = client.Put(t.Context(), t.Name()+"/token/other", "not a number")
	require.NoError(t, err)
	_, err = store.Take(t.Context(), claim("other", "a"))
	require.ErrorContains(t, err, "give New another Prefix")
}

func TestTheDocumentedPrivilegesAreEnough(t *testing.T) {
	s := start(t)
	root := connect(t, s.client)
	t.Cleanup(func() { _ = root.Close() })
	ctx := t.Context()
	for _, set := range []func() error{
		func() error { _, err := root.RoleAdd(ctx, "app"); return err },
		func() error {
			_, err := root.RoleGrantPermission(ctx, "app", etcd.DefaultPrefix, clientv3.GetPrefixRangeEnd(etcd.DefaultPrefix),
				clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := root.UserAdd(ctx, "app", "secret"); return err },
		func() error { _, err := root.UserGrantRole(ctx, "app", "app"); return err },
		func() error { _, err := root.UserAdd(ctx, "root", "secret"); return err },
		func() error { _, err := root.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := root.AuthEnable(ctx); return err },
	} {
		require.NoError(t, set())
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + s.client}, Username: "app", Password: "secret"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	store, err := etcd.New(client)
	require.NoError(t, err)
	grant, err := store.Take(ctx, claim("job", "a"))
	require.NoError(t, err)
	_, err = store.Take(ctx, claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
	_, err = store.Renew(ctx, grant)
	require.NoError(t, err)
	require.NoError(t, store.Release(ctx, grant))
	require.NoError(t, store.Release(ctx, lease.Grant{Claim: claim("job", "a")}))

	elsewhere, err := etcd.New(client, etcd.Prefix("elsewhere/"))
	require.NoError(t, err)
	_, err = elsewhere.Take(ctx, claim("job", "a"))
	require.ErrorContains(t, err, "permission denied")
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	_, err := etcd.New(nil)
	require.ErrorContains(t, err, "needs a client")
	client := connect(t, "127.0.0.1:1")
	defer client.Close()
	_, err = etcd.New(client, etcd.Prefix(""))
	require.ErrorContains(t, err, "Prefix is empty")
}
