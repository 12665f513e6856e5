package transport_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

func TestSecretsChangeUnderLoadWithoutALossOrACut(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		rings := []*remote.Keyring{keyring(t, secret(1)), keyring(t, secret(1))}
		a, b := start(t, n, "a", ring(rings[0])), start(t, n, "b", ring(rings[1]), at("proxy:9000"))
		proxy := startProxy(t, n, "proxy", "b:7355")
		inbox, _ := spawn[int](b, "inbox")
		to := actor.Resolve[int](a.sys, "understudy://test@"+proxy.addr+"/user/inbox")
		sent := 0
		load := func() {
			for range 200 {
				to.Tell(sent)
				sent++
				time.Sleep(time.Millisecond)
			}
		}
		load()
		for _, round := range []func(*remote.Keyring) error{
			func(k *remote.Keyring) error { return k.Add(secret(2)) },
			func(k *remote.Keyring) error { return k.Use(secret(2)) },
			func(k *remote.Keyring) error { return k.Remove(secret(1)) },
		} {
			for _, k := range rings { // one node after the other
				require.NoError(t, round(k))
				load()
				before := proxy.connections()
				require.Equal(t, 1, proxy.open())
				proxy.cut() // so that the nodes authenticate again
				load()
				require.Equal(t, before+1, proxy.connections(), "at once")
			}
		}
		require.Equal(t, 7, proxy.connections(), "the six that were cut, and the last")
		require.Equal(t, count(sent), inbox.got())
		require.Empty(t, a.lost.got())

		late := start(t, n, "late", ring(keyring(t, secret(1))))
		ref[int](late, b, "/user/inbox").Tell(-1)
		time.Sleep(6 * time.Second)
		require.ErrorIs(t, late.lost.got()[0].Reason, remote.ErrNotAuthenticated)
	})
}
