package clustertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

const (
	port       = "7355"
	startLimit = time.Minute
	stopLimit  = 30 * time.Second

	// memberlist's own goroutines outlive its shutdown by up to this, and a bubble must not
	// end before they do.
	memberlistRest = 15 * time.Second
)

// A Cluster is a set of nodes on one in-memory network. Its methods must be called by the test's
// own goroutine. They fail the test if they cannot do what they say.
type Cluster struct {
	t    testing.TB
	net  *memnet.Network
	opts []Option
	enc  actor.Option // of all nodes and clients
	kept persistence.Journal

	mu     sync.Mutex // guards all below
	live   map[string]*cluster.Node
	dead   []*cluster.Node   // crashed nodes
	clocks map[string]*clock // they outlive their nodes

	clients []*cluster.Client
}

// WithoutEncoding passes messages within a node as they are. By default they are encoded as
// between nodes, and the test fails if one cannot be encoded: see [testkit.WithEncoding].
func WithoutEncoding() Option {
	return func(_ string, cfg *cluster.Config) {
		cfg.SystemOptions = append(cfg.SystemOptions, testkit.WithoutEncoding())
	}
}

// WithJournal gives all nodes j as their cluster.Config.Journal, or none if j is nil. By default
// the nodes of a cluster share a journal.NewMemory; each round of a [Chaos] has one of its own.
func WithJournal(j persistence.Journal) Option {
	return func(_ string, cfg *cluster.Config) { cfg.Journal = j }
}

// An Option changes the configuration of the node called name before it starts.
type Option func(name string, cfg *cluster.Config)

// Start returns a cluster of the nodes "n1" to "nN", all up, the oldest first. The nodes are shut
// down when the test ends.
func Start(t testing.TB, n int, opts ...Option) *Cluster {
	t.Helper()
	c := newCluster(t, 1, opts)
	t.Cleanup(c.close)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i+1)
	}
	for _, name := range names {
		c.start(name, nil)
	}
	c.AwaitQuiet()
	return c
}

func newCluster(t testing.TB, seed uint64, opts []Option) *Cluster {
	return &Cluster{
		t: t, net: memnet.New(seed), opts: opts, enc: testkit.WithEncoding(t), kept: journal.NewMemory(),
		live: make(map[string]*cluster.Node), clocks: make(map[string]*clock),
	}
}

func (c *Cluster) running(name string) (*cluster.Node, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.live[name]
	return n, ok
}

func (c *Cluster) put(name string, n *cluster.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[name] = n
}

func (c *Cluster) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, name)
}

func (c *Cluster) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.live)
}

func (c *Cluster) addresses() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.live {
		all = append(all, name+":"+port)
	}
	return all
}

// Nodes returns the running nodes, sorted by name.
func (c *Cluster) Nodes() []*cluster.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	var nodes []*cluster.Node
	for _, name := range slices.SortedFunc(maps.Keys(c.live), byNumber) {
		nodes = append(nodes, c.live[name])
	}
	return nodes
}

// Node returns the running node of that name. It fails the test if no such node runs.
func (c *Cluster) Node(name string) *cluster.Node {
	c.t.Helper()
	n, ok := c.running(name)
	if !ok {
		c.t.Fatalf("clustertest: no node %q runs", name)
	}
	return n
}

// Add starts another node, which joins, and returns it when it is up.
func (c *Cluster) Add(name string, opts ...Option) *cluster.Node {
	c.t.Helper()
	c.start(name, opts)
	return c.Node(name)
}

// AddTogether starts nodes at the same moment, with each other as seeds, and returns when they are
// up. On an empty cluster, made by [Start] with 0 nodes, they form the cluster.
func (c *Cluster) AddTogether(names ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	type start struct {
		node *cluster.Node
		err  error
	}
	var starts []chan start
	for _, name := range names {
		cfg, started := c.config(name, []Option{knowing(names)}), make(chan start, 1)
		starts = append(starts, started)
		go func() {
			n, err := cluster.Start(ctx, cfg)
			started <- start{n, err}
		}()
	}
	for i, started := range starts {
		s := <-started
		if s.err != nil {
			c.t.Errorf("clustertest: start %s: %v", names[i], s.err)
			continue
		}
		c.put(names[i], s.node)
	}
}

func knowing(names []string) Option {
	return func(_ string, cfg *cluster.Config) {
		for _, name := range names {
			cfg.Seeds = append(cfg.Seeds, name+":"+port)
		}
		slices.SortFunc(cfg.Seeds, byNumber)
		cfg.Seeds = slices.Compact(cfg.Seeds)
	}
}

// Leave makes a node leave the cluster, and returns when it has left.
func (c *Cluster) Leave(name string) {
	c.t.Helper()
	n := c.Node(name)
	c.drop(name)
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if err := n.Leave(ctx); err != nil {
		c.t.Errorf("clustertest: %v", err)
	}
}

// Crash ends a node like a power failure: from this moment its peers hear nothing from it, no
// actor handles another message, and nothing is flushed. Neither PostStop nor shutdown tasks run,
// and its leases expire. A handler that is running finishes its message, and the test's own
// goroutines continue. Functions of Defer run when the test ends. No time passes.
func (c *Cluster) Crash(name string) { c.t.Helper(); c.crash(name, c.net.PowerOff) }

// Kill ends a node like kill -9. Unlike [Cluster.Crash], its host refuses connections, so peers
// notice sooner.
func (c *Cluster) Kill(name string) { c.t.Helper(); c.crash(name, c.net.Crash) }

func (c *Cluster) crash(name string, end func(name string)) {
	c.t.Helper()
	n := c.Node(name)
	c.drop(name)
	end(name)
	n.Halt()
	c.keepCrashed(n)
}

// Parts of it must be ended when the test ends.
func (c *Cluster) keepCrashed(n *cluster.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = append(c.dead, n)
}

// Restart kills a node and starts another one with the same name and address, like a new process.
// It returns when the new node is up.
func (c *Cluster) Restart(name string, opts ...Option) *cluster.Node {
	c.t.Helper()
	c.Kill(name)
	return c.Add(name, opts...)
}

// Partition cuts all links between nodes of different sides, in both directions. Nodes that are not
// in sides form one more side.
func (c *Cluster) Partition(sides ...[]string) { c.net.Partition(sides...) }

// OneWay cuts the direction from one node to another. The other direction stays open.
func (c *Cluster) OneWay(from, to string) { c.net.OneWay(from, to) }

// Stall holds up the streams from one node to another; datagrams get through.
func (c *Cluster) Stall(from, to string) { c.net.Stall(from, to) }

// Sever silently breaks the connections between two nodes, or between a node and a client, like a
// NAT that has forgotten them: both ends stay open, and nothing arrives, not even a reset. Severed
// connections stay severed. Connections opened later work.
func (c *Cluster) Sever(a, b string) { c.net.Sever(a, b) }

// Heal undoes every [Cluster.Partition], [Cluster.OneWay] and [Cluster.Stall].
func (c *Cluster) Heal() { c.net.Heal() }

// Pause holds back all traffic from and to a node until [Cluster.Resume], as if its process were
// stopped. Its actors continue, because nothing can stop a goroutine.
func (c *Cluster) Pause(name string) { c.net.Pause(name) }

// Resume ends a pause: everything that was held back arrives.
func (c *Cluster) Resume(name string) { c.net.Resume(name) }

// Delay sets the delay of all traffic from now on: d, and up to jitter more.
func (c *Cluster) Delay(d, jitter time.Duration) { c.net.Delay(d, jitter) }

// Lose sets the share of datagrams that are lost from now on, from 0 to 1. Streams lose nothing.
func (c *Cluster) Lose(share float64) { c.net.Lose(share) }

// LoseBetween sets the share of datagrams that are lost from one node to another, if it is more
// than the share of [Cluster.Lose].
func (c *Cluster) LoseBetween(from, to string, share float64) { c.net.LoseBetween(from, to, share) }

// Duplicate sets the share of datagrams that arrive twice from now on, from 0 to 1. The order of
// datagrams depends on the jitter of [Cluster.Delay]; streams keep their order.
func (c *Cluster) Duplicate(share float64) { c.net.Duplicate(share) }

// Drift sets the rate of a node's clock from now on: 1.05 is five percent fast, 1 is correct. The
// node sends heartbeats and judges other nodes by this clock. Connections, actors and singletons
// measure time by the correct one.
func (c *Cluster) Drift(name string, rate float64) {
	c.t.Helper()
	if rate <= 0 {
		c.t.Fatalf("clustertest: a clock cannot run at a rate of %v", rate)
	}
	c.clock(name).run(rate)
}

// Jump sets the wall clock of a node forward by d, or back if d is negative, as an operator does.
// Clocks that measure durations are not affected.
func (c *Cluster) Jump(name string, d time.Duration) { c.clock(name).step(d) }

func (c *Cluster) clock(name string) *clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clocks[name] == nil {
		now := time.Now()
		c.clocks[name] = &clock{real: now, shown: now, rate: 1, tickers: make(map[*time.Ticker]time.Duration)}
	}
	return c.clocks[name]
}

// start waits until the node is up.
func (c *Cluster) start(name string, opts []Option) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	n, err := cluster.Start(ctx, c.config(name, opts))
	if err != nil {
		c.t.Fatalf("clustertest: start %s: %v", name, err)
	}
	c.put(name, n)
}

func (c *Cluster) config(name string, opts []Option) cluster.Config {
	cfg := cluster.Config{
		Name: "test", NodeID: name, Bind: name + ":" + port, Seeds: []string{"n1:" + port},
		Network: c.net.Host(name),
		Clock:   c.clock(name),
		Journal: c.kept,
		Logger:  zaptest.NewLogger(c.t, zaptest.Level(zap.WarnLevel)).Named(name),

		SystemOptions: []actor.Option{c.enc},
	}
	cfg.Seeds = append(cfg.Seeds, c.addresses()...)
	slices.SortFunc(cfg.Seeds, byNumber)
	cfg.Seeds = slices.Compact(cfg.Seeds)
	for _, o := range slices.Concat(c.opts, opts) {
		o(name, &cfg)
	}
	return cfg
}

func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return slices.Compare([]byte(a), []byte(b))
}

func (c *Cluster) shutdown(n *cluster.Node) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if err := n.Shutdown(ctx); err != nil {
		c.t.Errorf("clustertest: %v", err)
	}
}

func (c *Cluster) close() {
	c.hangUp()
	for _, n := range c.Nodes() {
		c.shutdown(n)
	}
	c.shutDownCrashed()
	c.net.Close()
	if inBubble() {
		time.Sleep(memberlistRest)
	}
}

func (c *Cluster) shutDownCrashed() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	for _, n := range c.dead {
		err := n.Shutdown(ctx) // its sockets fail, as they should
		select {
		case <-n.Terminated():
		default:
			c.t.Errorf("clustertest: %v", err)
		}
	}
}

func inBubble() (in bool) {
	defer func() { in = recover() == nil }()
	synctest.Wait()
	return in
}
