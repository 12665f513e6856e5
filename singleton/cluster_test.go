package singleton_test

import (
	"context"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// A cluster is several systems in one bubble, with a network between them and views that the test
// provides. Its members are listed in the order of election.
type cluster struct {
	t     *testing.T
	net   *network
	nodes map[string]*node // the last of each name

	joined   uint64 // how many nodes have
	straight bool   // nodes know that the others take messages without their hubs

	mu      sync.Mutex // guards all below, and the peers of the nodes
	members []*node
	gone    []directory.Gone
	ups     uint64 // how many have come up
}

// A node is one incarnation of a member.
type node struct {
	*actor.System
	cluster     *cluster
	peer        directory.Peer
	views       *latest
	deadLetters *testkit.Probe[actor.DeadLetter]
	behind      bool // it gets no views
}

// inCluster runs a test in a bubble, with nodes of these names, all up.
func inCluster(t *testing.T, names []string, test func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{t: t, net: newNetwork(), nodes: map[string]*node{}, straight: true}
		t.Cleanup(c.net.close)
		for _, name := range names {
			c.up(c.join(name))
		}
		synctest.Wait() // all have seen the members: a node that has not yet answers none
		test(t, c)
	})
}

// join adds a member that is not up yet.
func (c *cluster) join(name string) *node {
	n := &node{cluster: c, views: newLatest()}
	c.joined++
	n.peer = directory.Peer{
		ID: remote.NodeID{Address: name, Incarnation: c.joined}, Name: name, Reachable: true,
	}
	n.System = testkit.NewSystem(c.t, testkit.WithoutEncoding(), extension.WithTransport(name, c.net))
	n.deadLetters = testkit.NewProbe[actor.DeadLetter](c.t, n.System)
	actor.Subscribe(n.System, n.deadLetters.Ref())
	c.net.connect(name, n.System)
	singletons.Attach(n.System, n.topologies)
	peers.Attach(n.System, peers.Lookup{
		Name: func(string) string { return "" },
		Features: func(remote.NodeID) protocol.Features {
			if c.straight {
				return 1 << protocol.Straight
			}
			return 0
		},
	})
	c.nodes[name] = n
	c.change(func() { c.members = append(c.members, n) })
	return n
}

func (c *cluster) up(n *node) {
	c.change(func() {
		c.ups++
		n.peer.Up, n.peer.UpNumber = true, c.ups
	})
}

// change changes the table, and shows it to all nodes.
func (c *cluster) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	for _, n := range c.members {
		c.show(n, c.members)
	}
}

// showTo gives one node a view of its own, until the next change.
func (c *cluster) showTo(to *node, members ...*node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.show(to, members)
}

func (c *cluster) show(to *node, members []*node) {
	if to.behind {
		return
	}
	topo := directory.Topology{
		Self: to.peer.ID, Down: !slices.Contains(members, to), Gone: slices.Clone(c.gone),
		Margin: margin,
	}
	for _, m := range members {
		topo.Members = append(topo.Members, m.peer)
	}
	to.views.put(topo)
}

const margin = 5 * time.Second

// leave takes a node out as a cluster does: leaving, drained, removed, shut down.
func (c *cluster) leave(name string) {
	c.t.Helper()
	c.startLeaving(name)
	c.finishLeaving(name)
}

func (c *cluster) startLeaving(name string) { c.change(func() { c.nodes[name].peer.Up = false }) }

func (c *cluster) finishLeaving(name string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	n := c.nodes[name]
	require.NoError(c.t, singletons.Drain(ctx, n.System))
	c.removed(n)
	time.Sleep(time.Second) // a cluster lets nobody go before everybody knows
	require.NoError(c.t, n.Shutdown(ctx))
}

// crash ends a node; the others do not know until it is removed.
func (c *cluster) crash(name string) {
	c.t.Helper()
	c.net.disconnect(name)
	require.NoError(c.t, c.nodes[name].Shutdown(c.t.Context()))
}

func (c *cluster) removed(n *node) {
	c.change(func() { c.members = slices.DeleteFunc(slices.Clone(c.members), func(m *node) bool { return m == n }) })
}

// downed takes n out of the table, as a node that may still run.
func (c *cluster) downed(n *node) {
	c.change(func() { c.gone = append(c.gone, directory.Gone{Peer: n.peer, Since: time.Now()}) })
	c.removed(n)
}

// reachable changes whether the others can reach n.
func (c *cluster) reachable(n *node, yes bool) { c.change(func() { n.peer.Reachable = yes }) }

func (n *node) topologies(ctx context.Context) iter.Seq[directory.Topology] {
	return n.views.follow(ctx)
}

func (n *node) record() wire.Record {
	for _, k := range singletons.AllKnown(n.System) {
		if k.Name == "one" {
			return k.Record
		}
	}
	return wire.Record{}
}

func (n *node) status(name string) singleton.Status {
	s, ok := singleton.StatusOf(n.System, name)
	require.True(n.cluster.t, ok)
	return s
}

// latest passes the newest topology to its followers.
type latest struct {
	mu   sync.Mutex // guards topo
	topo directory.Topology
	news chan struct{} // of one
}

func newLatest() *latest { return &latest{news: make(chan struct{}, 1)} }

func (l *latest) put(topo directory.Topology) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.topo = topo
	select {
	case l.news <- struct{}{}:
	default:
	}
}

func (l *latest) follow(ctx context.Context) iter.Seq[directory.Topology] {
	return func(yield func(directory.Topology) bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-l.news:
			}
			l.mu.Lock()
			topo := l.topo
			l.mu.Unlock()
			if !yield(topo) {
				return
			}
		}
	}
}
