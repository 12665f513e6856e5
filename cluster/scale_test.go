package cluster

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// docs/performance.md has the figures that these tests print.

func TestALargeClusterConvergesAndANodeCostsNoMoreThanInASmallOne(t *testing.T) {
	effort.Long(t)
	size := effort.Count(0, 0, 40)
	small, large := measure(t, min(30, size*3/4)), measure(t, size)
	if size <= 16 {
		return // in the small cluster all members observe each other
	}
	require.LessOrEqual(t, large.rest.datagrams, 1.3*small.rest.datagrams)
	require.LessOrEqual(t, large.rest.writes, 1.3*small.rest.writes)
	require.LessOrEqual(t, large.rest.bytes, 1.3*small.rest.bytes)
}

func TestNodesThatStartAtOnceFormOneCluster(t *testing.T) {
	effort.Long(t)
	inBubble(t, func(_ *testing.T, f *testCluster) {
		defer f.abandon()
		f.gather(10*time.Second, numbered(effort.Count(0, 0, 50)))
	})
}

func TestManyNodesJoinAtOnceAndAQuarterOfThemLeavesAtOnce(t *testing.T) {
	effort.Long(t)
	storm := effort.Count(0, 0, 40)
	inBubble(t, func(t *testing.T, f *testCluster) {
		defer f.abandon()
		names := numbered(storm)
		var traffic traffic
		f.tune = func(c *Config) { c.Network = countingNetwork{c.Network, &traffic} }
		took := f.gather(15*time.Second, names)
		t.Logf("%d nodes that start at once agree after %v; each sent %v", storm, took, traffic.read().over(float64(storm)))

		leave, stay := names[:storm/4], names[storm/4:] // with the leader and the seeds
		before, begin := traffic.read(), time.Now()
		f.leaveAtOnce(leave)
		f.await(15*time.Second-time.Since(begin), stay...)
		t.Logf("%d of them leave at once, and the others agree after %v; each sent %v", len(leave), time.Since(begin), traffic.read().since(before).over(float64(storm)))
		for _, name := range leave {
			_, known := f.nodes[stay[0]].View().Member(name)
			require.False(t, known, name)
		}
	})
}

// figures are the cost and the times of one cluster.
type figures struct {
	joined  time.Duration // from the start until all agree
	rest    load          // of each node and second, when nothing happens
	removed time.Duration // from a crash until all agree that the member is removed
	heap    uint64        // of each node, in bytes, with its part of the network in memory
}

func measure(t *testing.T, n int) (m figures) {
	t.Helper()
	inBubble(t, func(t *testing.T, f *testCluster) {
		defer f.abandon()
		var traffic traffic
		f.tune = func(c *Config) { c.Network = countingNetwork{c.Network, &traffic} }
		names := numbered(n)
		m.joined = f.gather(10*time.Second, names)

		time.Sleep(20 * time.Second) // until memberlist has spread all nodes
		const watched = 5 * time.Second
		before := traffic.read()
		time.Sleep(watched)
		m.rest = traffic.read().since(before).over(watched.Seconds() * float64(n))
		m.heap = heapInUse() / uint64(n)

		begin := time.Now()
		f.crash(names[n-1])
		f.await(6*time.Second, names[:n-1]...)
		m.removed = time.Since(begin)
		t.Logf("%d nodes: agree %v after the start; at rest each sends %v a second, and has %d KB; a crashed one is removed after %v", n, m.joined, m.rest, m.heap>>10, m.removed)
	})
	return m
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i+1)
	}
	return names
}

// gather starts nodes at once, waits until all agree, and returns how long that took.
func (f *testCluster) gather(within time.Duration, names []string) time.Duration {
	f.t.Helper()
	begin := time.Now()
	f.start(names...)
	f.await(within-time.Since(begin), names...)
	return time.Since(begin)
}

func (f *testCluster) leaveAtOnce(names []string) {
	f.t.Helper()
	failures := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		n := f.nodes[name]
		delete(f.nodes, name)
		all.Go(func() { failures[i] = n.Leave(context.Background()) })
	}
	all.Wait()
	require.Empty(f.t, slices.DeleteFunc(failures, func(err error) bool { return err == nil }))
}

// abandon aborts all nodes at once; they notify nobody.
func (f *testCluster) abandon() {
	for _, n := range f.nodes {
		n.abort(ErrEnded)
	}
	for name, n := range f.nodes {
		_ = n.Shutdown(context.Background()) // its error says that the node was not asked to leave
		delete(f.nodes, name)
	}
}
