package transport_test

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/memnet"
)

// A node may want a connection while a beat of the client is under way, or its answer.
func TestAWaitingConnectionIsUsableWhateverPingIsUnderWay(t *testing.T) {
	for name, secrets := range map[string]func() []func(*transport.Config){
		"plain":         func() []func(*transport.Config) { return nil },
		"with a secret": func() []func(*transport.Config) { return []func(*transport.Config){ring(keyring(t, secret(1)))} },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				n.Delay(100*time.Millisecond, 0)
				a := start(t, n, "a", secrets()...)
				client := startClient(t, n, "client", []*testNode{a}, secrets()...)
				inbox, _ := spawn[int](client, "inbox")
				to := ref[int](a, client, "/user/inbox")
				for i := range effort.Of(25, 250, 250) {
					time.Sleep(2*time.Minute + time.Duration(i)*10*time.Millisecond) // the connection before is closed
					to.Tell(i)
					time.Sleep(time.Second)
					require.Len(t, inbox.got(), i+1)
				}
				require.Empty(t, a.logs.FilterMessage("cannot connect").All())
				require.Empty(t, client.logs.FilterMessage("no connection for what the peer sends").All())
			})
		})
	}
}

// It takes three seconds to find out by beats.
func TestAClientThatMeetsTheNextProcessOfANodeOpensAConnectionToItAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		client := startClient(t, n, "client", []*testNode{a})
		time.Sleep(2*time.Minute + 100*time.Millisecond)
		n.PowerOff("a")
		a.stop()
		a = start(t, n, "a")
		spawnAdder(a.sys)
		begin := time.Now()
		require.Equal(t, 2, ask(t, ref[question](client, a, "/user/adder"), 1))
		require.Less(t, time.Since(begin), 500*time.Millisecond)
	})
}

// Neither side waits for ever, whichever is not there any more.
func TestAConnectionThatWaitsEndsWithEitherSide(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		startClient(t, n, "client", []*testNode{a})
		time.Sleep(time.Hour)
		n.Sever("a", "client")
		require.Equal(t, 2, n.Severed())
		time.Sleep(3100 * time.Millisecond)
		require.Equal(t, 1, n.Severed(), "the client has another")
		time.Sleep(7 * time.Second)
		require.Zero(t, n.Severed())

		time.Sleep(time.Hour)
		n.PowerOff("client")
		time.Sleep(11 * time.Second)
		n.Host("client")
		n.Sever("a", "client")
		require.Zero(t, n.Severed())
	})
}

// One node closes connections that the other takes for good ones.
func TestNodesThatKeepIdleConnectionsForDifferentTimesLoseNothing(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(c *transport.Config) { c.IdleAfter = time.Hour })
		b := start(t, n, "b", func(c *transport.Config) { c.IdleAfter = time.Second })
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		for i := range 500 {
			to.Tell(i)
			time.Sleep(1990*time.Millisecond + time.Duration(i)*50*time.Microsecond)
		}
		require.Equal(t, count(500), inbox.got())
		require.Empty(t, a.lost.got())
		forever := start(t, n, "forever", func(c *transport.Config) { c.IdleAfter = 1<<63 - 1 })
		ref[int](forever, b, "/user/inbox").Tell(500)
		late, _ := spawn[int](forever, "inbox")
		ref[int](a, forever, "/user/inbox").Tell(1)
		time.Sleep(time.Second)
		require.Len(t, inbox.got(), 501)
		require.Equal(t, []int{1}, late.got())
	})
}
