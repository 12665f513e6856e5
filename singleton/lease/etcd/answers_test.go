package etcd_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/understudy-go/understudy/internal/lab/cutproxy"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/etcd"
)

func TestWhoHasLostTheAnswerIsToldAgain(t *testing.T) {
	s := shared(t)
	proxy, err := cutproxy.Start(s.client)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })

	var deafAfterGrant atomic.Bool // the answer to the last request of Take is the next one
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://" + proxy.Addr()},
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any,
			cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
		) error {
			err := invoke(ctx, method, req, reply, cc, opts...)
			if method == "/etcdserverpb.Lease/LeaseGrant" && deafAfterGrant.CompareAndSwap(true, false) {
				proxy.LoseAnswers(true)
			}
			return err
		})},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	prefix := t.Name() + "/"
	store, err := etcd.New(client, etcd.Prefix(prefix))
	require.NoError(t, err)

	direct := connect(t, s.client)
	t.Cleanup(func() { _ = direct.Close() })
	holder := func() string {
		answer, err := direct.Get(t.Context(), prefix+"holder/job")
		require.NoError(t, err)
		if len(answer.Kvs) == 0 {
			return ""
		}
		return string(answer.Kvs[0].Value)
	}
	// lose cuts the connection once f has had its effect, of which it has not heard.
	lose := func(effect string, f func(context.Context) error) error {
		t.Helper()
		failed := make(chan error, 1)
		go func() { failed <- f(patient(t, time.Minute)) }()
		require.Eventually(t, func() bool { return holder() == effect && proxy.Lost() > 0 }, time.Minute, 10*time.Millisecond) //nolint:forbidigo // a real server
		proxy.Cut()
		proxy.LoseAnswers(false)
		return <-failed
	}
	unknown := func(err error) {
		t.Helper()
		require.Error(t, err)
		require.NotErrorIs(t, err, lease.ErrHeld)
		require.NotErrorIs(t, err, lease.ErrLost)
	}
	take := func(holder string) func(context.Context) error {
		deafAfterGrant.Store(true)
		return func(ctx context.Context) error {
			_, err := store.Take(ctx, claim("job", holder))
			return err
		}
	}

	unknown(lose("a", take("a")))
	_, err = store.Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	require.EqualValues(t, 2, grant.Token)
	_, err = store.Renew(t.Context(), grant)
	require.NoError(t, err)

	proxy.LoseAnswers(true)
	require.NoError(t, lose("", func(ctx context.Context) error { return store.Release(ctx, grant) }),
		"the client asks again by itself")
	require.NoError(t, store.Release(t.Context(), grant))

	unknown(lose("c", take("c")))
	require.NoError(t, store.Release(t.Context(), lease.Grant{Claim: claim("job", "c")}), "without ever knowing the acquisition")
	grant, err = store.Take(t.Context(), claim("job", "d"))
	require.NoError(t, err)
	require.EqualValues(t, 4, grant.Token)
}
