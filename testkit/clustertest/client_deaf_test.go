//go:build !quick

package clustertest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// heardAgain is how long it takes until a client and the nodes communicate again, once they can.
const heardAgain = 10 * time.Second

var clerks = receptionist.NewKey[ticket]("clerks")

// open starts the actors that the clients of a node use.
func open(n *cluster.Node) {
	actor.Spawn(n, behaviors.Singleton(clerk), "clerk")
	actor.Spawn(n, behaviors.Discoverable(clerks, clerk()), "desk")
}

// Without keep-alive, a network reports a lost connection to neither side. A client that waited on
// such a connection for messages of a node once waited for ever.
func TestAClientIsHeardAgainAfterASilentCut(t *testing.T) {
	named := []string{"n1", "n2", "n3"}
	sever := func(c *clustertest.Cluster) {
		for _, name := range named {
			c.Sever("client", name)
		}
	}
	for name, cut := range map[string]func(t *testing.T, c *clustertest.Cluster){
		"connections are forgotten": func(_ *testing.T, c *clustertest.Cluster) { sever(c) },
		"and the way is cut": func(_ *testing.T, c *clustertest.Cluster) {
			c.Partition([]string{"client"})
			sever(c)
			time.Sleep(time.Minute)
		},
		"nodes begin new incarnations": func(t *testing.T, c *clustertest.Cluster) {
			c.Partition([]string{"client"}, []string{"n1"}, []string{"n2"}, []string{"n3"})
			sever(c)
			time.Sleep(time.Minute)
			c.Heal()
			c.Partition([]string{"client"})
			whole(t, c, 2*time.Minute, named...)
		},
		"nodes are started again": func(t *testing.T, c *clustertest.Cluster) {
			c.Partition([]string{"client"})
			for _, name := range named {
				c.Crash(name)
			}
			c.AddTogether(named...)
			for _, n := range c.Nodes() {
				open(n)
			}
			whole(t, c, time.Minute, named...)
		},
		"one node after the other is started again": func(t *testing.T, c *clustertest.Cluster) {
			c.Partition([]string{"client"})
			for _, name := range named {
				c.Crash(name)
				time.Sleep(10 * time.Second)
				open(c.Add(name))
				time.Sleep(10 * time.Second)
			}
			whole(t, c, time.Minute, named...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
				for _, n := range c.Nodes() {
					open(n)
				}
				client := c.Dial("client")
				inbox := testkit.NewProbe[stub](t, client.System)
				mine := actor.Spawn(client, clerk(), "mine")
				requireHeard(t, c, client, inbox)
				watch := watchesFromClient(client, c.Node("n2"))
				time.Sleep(long(5 * time.Minute))
				before := c.Nodes()
				cut(t, c)
				c.Heal()
				time.Sleep(heardAgain)
				for range 3 {
					requireHeard(t, c, client, inbox)
					time.Sleep(time.Minute)
				}
				if same := slices.Equal(before, c.Nodes()); same {
					require.NoError(t, c.Node("n2").Shutdown(t.Context()))
				}
				<-watch
				requireWatchedByNodes(t, c, client, mine)
			})
		})
	}
}

// watchesFromClient has the client watch an actor of a node.
func watchesFromClient(client *cluster.Client, n *cluster.Node) (ended chan struct{}) {
	ended = make(chan struct{})
	target := actor.Spawn(n, clerk(), "watched").String()
	actor.Spawn(client, func(ctx *actor.Context[string], next *actor.Next[string]) {
		ctx.WatchWith(actor.Resolve[ticket](client.System, target), "end")
		next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] {
			close(ended)
			return behaviors.Stopped
		}
	}, "")
	return ended
}

// requireHeard checks that client and nodes communicate at once.
func requireHeard(t *testing.T, c *clustertest.Cluster, client *cluster.Client, inbox *testkit.Probe[stub]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := hand(ctx, singleton.Ref[ticket](client.System, "clerk"), 1)
	require.NoError(t, err)
	found, err := cluster.Lookup(ctx, client, clerks)
	require.NoError(t, err)
	require.Len(t, found.Reachable(), len(c.Nodes()))
	for _, desk := range found.Reachable() {
		_, err := hand(ctx, desk, 2)
		require.NoError(t, err)
	}
	require.Len(t, client.View().Members, len(c.Nodes()))
	for _, n := range c.Nodes() {
		require.Contains(t, client.View().Members, member(t, n.View(), n.View().Self.Name))
		actor.Resolve[stub](n.System, inbox.Ref().String()).Tell(stub{Number: 3, Address: n.Address()})
		require.Equal(t, stub{3, n.Address()}, inbox.Receive())
		_, err := hand(ctx, actor.Resolve[ticket](n.System, "understudy://test@"+client.Address()+"/user/mine"), 4)
		require.NoError(t, err)
	}
}

// requireWatchedByNodes checks that nodes learn of the end of an actor of the client, and not
// before.
func requireWatchedByNodes(t *testing.T, c *clustertest.Cluster, client *cluster.Client, mine actor.ActorRef[ticket]) {
	t.Helper()
	p := watchFrom(t, c.Node("n3"), mine.String())
	p.ExpectNone(time.Minute)
	require.NoError(t, client.System.Shutdown(t.Context()))
	p.Expect(mine.Path())
}
