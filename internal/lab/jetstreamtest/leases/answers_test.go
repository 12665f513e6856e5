package leases

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/cutproxy"
	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/singleton/lease"
)

// A lossyDialer dials so that the answer to the next write of a record is lost, when it is
// armed.
type lossyDialer struct {
	proxy *cutproxy.Proxy
	armed atomic.Bool
}

func (d *lossyDialer) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	return &lossyConn{conn, d}, err
}

type lossyConn struct {
	net.Conn
	dialer *lossyDialer
}

func (c *lossyConn) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("HPUB $KV.leases.holder.")) && c.dialer.armed.CompareAndSwap(true, false) {
		c.dialer.proxy.LoseAnswers(true)
	}
	return c.Conn.Write(b)
}

func TestWhoHasLostTheAnswerIsToldAgain(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	kv := c.bucket(t, "leases")
	proxy, err := cutproxy.Start(c.addr(0))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	dialer := &lossyDialer{proxy: proxy}
	nc := connect(t, "nats://"+proxy.Addr(), nats.SetCustomDialer(dialer))
	store, err := jetstream.OpenLeases(t.Context(), nc, jetstream.LeasesConfig{Bucket: "leases", Replicas: 1})
	require.NoError(t, err)

	// lose ends f once it has had its effect, of which it has not heard.
	lose := func(effect string, f func(context.Context) error) error {
		t.Helper()
		before := uint64(0)
		if e, err := kv.Get(t.Context(), "holder.job"); err == nil {
			before = e.Revision()
		}
		dialer.armed.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		failed := make(chan error, 1)
		go func() { failed <- f(ctx) }()
		require.Eventually(t, func() bool { //nolint:forbidigo // real servers
			e, err := kv.Get(t.Context(), "holder.job")
			return err == nil && e.Revision() > before && strings.HasPrefix(string(e.Value()), effect) && proxy.Lost() > 0
		}, time.Minute, 10*time.Millisecond)
		cancel()
		err := <-failed
		reconnects := nc.Stats().Reconnects
		proxy.Cut()
		proxy.LoseAnswers(false)
		require.Eventually(t, func() bool { return nc.Stats().Reconnects > reconnects }, time.Minute, time.Millisecond) //nolint:forbidigo // real servers
		return err
	}
	take := func(holder string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := store.Take(ctx, claim("job", holder))
			return err
		}
	}

	unknown(t, lose(`holder "a"`, take("a")))
	_, err = store.Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	require.EqualValues(t, 1, grant.Token, "it has it already")

	unknown(t, lose(`holder "a"`, func(ctx context.Context) error { _, err := store.Renew(ctx, grant); return err }))
	grant, err = store.Renew(t.Context(), grant)
	require.NoError(t, err)

	unknown(t, lose(`holder ""`, func(ctx context.Context) error { return store.Release(ctx, grant) }))
	require.NoError(t, store.Release(t.Context(), grant))

	unknown(t, lose(`holder "c"`, take("c")))
	require.NoError(t, store.Release(t.Context(), lease.Grant{Claim: claim("job", "c")}), "without ever knowing the acquisition")
	grant, err = store.Take(t.Context(), claim("job", "d"))
	require.NoError(t, err)
	require.EqualValues(t, 3, grant.Token)
}

// The next connection carries the request again, and nobody waits for the answer that was lost.
func TestARequestEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	proxy, err := cutproxy.Start(c.addr(0))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	store := openAt(t, "nats://"+proxy.Addr(), jetstream.LeasesConfig{Bucket: "leases", Replicas: 1})
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)

	proxy.LoseAnswers(true)
	renewed := make(chan error, 1)
	go func() { _, err := store.Renew(t.Context(), grant); renewed <- err }()
	require.Eventually(t, func() bool { return proxy.Lost() > 0 }, time.Minute, time.Millisecond) //nolint:forbidigo // real servers
	cut := time.Now()
	proxy.LoseAnswers(false)
	proxy.Cut()
	require.NoError(t, <-renewed)
	require.Less(t, time.Since(cut), time.Second, "a lost answer is waited for for two")
}
