package transport_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// startClient starts a node that listens nowhere, and that those nodes can send to.
func startClient(t testing.TB, n *memnet.Network, name string, reach []*testNode, change ...func(*transport.Config)) *testNode {
	t.Helper()
	x := start(t, n, name, append(change, func(c *transport.Config) { c.Outbound = true })...)
	var addrs []string
	for _, other := range reach {
		addrs = append(addrs, other.Addr())
	}
	x.Reach(addrs)
	return x
}

func TestAClientAsksAndIsAskedOverConnectionsThatItHasOpened(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		client := startClient(t, n, "client", []*testNode{a, b})
		require.True(t, strings.HasSuffix(client.Addr(), ".client.invalid:1"))
		spawnAdder(a.sys)
		spawnAdder(client.sys)
		for i := range 100 {
			require.Equal(t, i+1, ask(t, ref[question](client, a, "/user/adder"), i))
			require.Equal(t, i+1, ask(t, ref[question](a, client, "/user/adder"), i))
			require.Equal(t, i+1, ask(t, ref[question](b, client, "/user/adder"), i), "one that it has never told anything")
		}
		require.Empty(t, append(a.lost.got(), client.lost.got()...))
	})
}

func TestAClientIsReachedAgainWhenConnectionsBreakAndLosesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(c *transport.Config) { c.Advertise = "proxy:9000" })
		proxy := startProxy(t, n, "proxy", "a:7355")
		client := startClient(t, n, "client", []*testNode{a})
		inbox, _ := spawn[int](client, "inbox")
		to := ref[int](a, client, "/user/inbox")
		for i := range 2000 {
			to.Tell(i)
			if i%100 == 50 {
				proxy.cut()
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		require.Equal(t, count(2000), inbox.got())
		require.Empty(t, a.lost.got())
	})
}

func TestAClientThatIsIdleForLongCanStillBeReached(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		client := startClient(t, n, "client", []*testNode{a})
		inbox, _ := spawn[int](client, "inbox")
		for i := range 5 {
			ref[int](a, client, "/user/inbox").Tell(i)
			time.Sleep(time.Hour)
		}
		require.Equal(t, count(5), inbox.got())
	})
}

func TestWhatIsToldToAClientThatIsGoneBecomesDeadLetters(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		client := startClient(t, n, "client", []*testNode{a})
		spawn[int](client, "inbox")
		to := ref[int](a, client, "/user/inbox")
		to.Tell(0)
		soon()
		client.stop()
		to.Tell(1)
		time.Sleep(10 * time.Second)
		require.Equal(t, []int{1}, lostMessages(t, a, actor.ErrUnreachable))
		actor.Resolve[int](a.sys, "understudy://test@0011.client.invalid:1/user/x").Tell(2)
		time.Sleep(10 * time.Second)
		require.Equal(t, []int{1, 2}, lostMessages(t, a, actor.ErrUnreachable))
	})
}

func TestAPeerThatTakesEachConnectionOfAClientIsNotDialledAllTheTime(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		var connections atomic.Int64
		end := serveRaw(t, n, func(r *raw) {
			connections.Add(1)
			r.skip()
			r.readFields()
			r.frame(accepted(5, 0))
			r.write(opened('A')...) // and it goes
			require.NoError(t, r.Close())
		})
		client := startClient(t, n, "client", nil)
		client.Reach([]string{"raw:7355"})
		time.Sleep(10 * time.Second)
		require.InDelta(t, 10, connections.Load(), 10)
		client.stop()
		end()
	})
}

func TestAClientIsNotReachedByNodesThatItDoesNotReachFor(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		client := startClient(t, n, "client", []*testNode{a})
		inbox, _ := spawn[int](client, "inbox")
		client.Reach(nil)
		soon()
		ref[int](a, client, "/user/inbox").Tell(1)
		time.Sleep(10 * time.Second)
		require.Empty(t, inbox.got())
		require.Len(t, a.lost.got(), 1)
		client.Reach([]string{a.Addr(), a.Addr()})
		ref[int](a, client, "/user/inbox").Tell(2)
		soon()
		require.Equal(t, []int{2}, inbox.got())
	})
}

func TestClientsAndNodesProveToEachOtherThatTheyHaveTheSecret(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", ring(keyring(t, secret(1))))
		client := startClient(t, n, "client", []*testNode{a}, ring(keyring(t, secret(1))))
		spawnAdder(a.sys)
		spawnAdder(client.sys)
		require.Equal(t, 8, ask(t, ref[question](client, a, "/user/adder"), 7))
		require.Equal(t, 8, ask(t, ref[question](a, client, "/user/adder"), 7))
		for _, change := range []func(*transport.Config){ring(keyring(t, secret(2))), func(*transport.Config) {}} {
			unauthenticatedConn := startClient(t, n, "unknown", nil, change)
			_, err := unauthenticatedConn.Greet(t.Context(), a.Addr())
			require.ErrorIs(t, err, remote.ErrNotAuthenticated)
		}
	})
}

func TestClientsAndNodesProveToEachOtherWhoTheyAreByCertificates(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		ca := newAuthority(t)
		a := start(t, n, "a", ca.node("a"))
		client := startClient(t, n, "client", []*testNode{a}, ca.node("anything"))
		spawnAdder(a.sys)
		spawnAdder(client.sys)
		require.Equal(t, 8, ask(t, ref[question](client, a, "/user/adder"), 7))
		require.Equal(t, 8, ask(t, ref[question](a, client, "/user/adder"), 7))
	})
}

func TestGreetTellsWhoLivesThereAndWhyNotToTalk(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(c *transport.Config) { c.Cluster = "shop" })
		client := startClient(t, n, "client", nil, func(c *transport.Config) { c.Cluster = "shop" })
		proxy := startProxy(t, n, "proxy", a.Addr())
		peer, err := client.Greet(t.Context(), proxy.addr)
		require.NoError(t, err)
		require.Equal(t, a.Self(), peer)

		foreign := startClient(t, n, "foreign", nil, func(c *transport.Config) { c.Cluster = "bank" })
		_, err = foreign.Greet(t.Context(), a.Addr())
		require.EqualError(t, err, `remote: refused by a:7355: wrong cluster: its cluster is "shop", not "bank"; set Config.Name to the same on all nodes of one cluster`)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = client.Greet(ctx, a.Addr())
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestOutboundEndpointsRefuseWhatOnlyListenersHave(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		_, err := transport.Listen(transport.Config{Outbound: true, Advertise: "x:1"})
		require.ErrorContains(t, err, "leave it out")
		a := start(t, n, "a")
		require.Panics(t, func() { a.Reach(nil) })
		client := startClient(t, n, "client", []*testNode{a})
		client.SendControl(a.Addr(), []byte("x"))
		client.SendPacket(a.Addr(), []byte("x"))
		require.NoError(t, client.WritePacket([]byte("x"), a.Addr()))
		a.SendPacket(client.Addr(), []byte("x"))
		time.Sleep(10 * time.Second)
		require.Empty(t, a.control.got(), "a client is no node")
	})
}

func TestTheEndOfActorsOfAClientIsToldAndItHearsOfOthers(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		client := startClient(t, n, "client", []*testNode{a})
		mine, theirs := spawnMortal(client, "mine"), spawnMortal(a, "theirs")
		w, v := spawnWarden(a), spawnWarden(client)
		w.Tell(watching(seenFrom(a, mine)))
		v.Tell(watching(seenFrom(client, theirs)))
		soon()
		mine.Tell(0)
		theirs.Tell(0)
		soon()
		require.Equal(t, []string{"end of " + mine.Path()}, w.got())
		require.Equal(t, []string{"end of " + theirs.Path()}, v.got())
	})
}

// A client shuts down right after a message has arrived, and then the node does.
func TestWhatAClientHasReceivedIsNotLostWhenBothShutDown(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		client := startClient(t, n, "client", []*testNode{a})
		spawnAdder(client.sys)
		require.Equal(t, 2, ask(t, ref[question](a, client, "/user/adder"), 1))
		client.stop()
		a.stop()
		require.Empty(t, a.lost.got())
		require.Empty(t, a.logs.FilterMessage("messages lost").All())
	})
}
