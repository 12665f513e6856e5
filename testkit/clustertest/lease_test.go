//go:build !quick

package clustertest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A sharedLease is a lease that all nodes of a test share, as in a database.
type sharedLease struct {
	mu     sync.Mutex // guards the following
	holder string
	cut    map[string]bool // nodes that cannot reach it
	asked  []string
}

// at returns the lease of a node.
func (l *sharedLease) at(node string) lease.Lease { return leaseAt{of: l, node: node} }

// cutOff cuts nodes off from the lease.
func (l *sharedLease) cutOff(nodes ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range nodes {
		l.cut[n] = true
	}
}

func (l *sharedLease) state() (holder string, asked []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder, l.asked
}

type leaseAt struct {
	lease.Lease
	of   *sharedLease
	node string
}

func (l leaseAt) Valid() bool {
	holder, _ := l.of.state()
	return holder == l.node
}

func (leaseAt) Token() uint64                      { return 1 }
func (leaseAt) OnLost(func(error)) (cancel func()) { return func() {} }
func (l leaseAt) String() string                   { return "the lease of " + l.node }

func (l leaseAt) AcquireAbove(ctx context.Context, _ uint64) (bool, error) {
	held, reached := l.of.take(l.node)
	if !reached {
		<-ctx.Done()
		return false, ctx.Err()
	}
	return held, nil
}

func (l *sharedLease) take(node string) (held, reached bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, node)
	if l.cut[node] {
		return false, false
	}
	if l.holder == "" {
		l.holder = node
	}
	return l.holder == node, true
}

func (l leaseAt) Release(context.Context) error {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.of.holder != l.node {
		return errors.New("not the holder")
	}
	l.of.holder = ""
	return nil
}

// leased starts five nodes that share a lease, with one counted singleton.
func leased(t *testing.T) (*clustertest.Cluster, *sharedLease, *testkit.Census) {
	t.Helper()
	shared := &sharedLease{cut: map[string]bool{}}
	c := clustertest.Start(t, 5, func(name string, cfg *cluster.Config) {
		cfg.Downing = downing.LeaseMajority{Lease: shared.at(name)}
	})
	census := testkit.NewCensus(t)
	for _, n := range c.Nodes() {
		actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
	}
	c.AwaitQuiet()
	return c, shared, census
}

// requireMembers: these nodes are a cluster, and all others are in none.
func requireMembers(t *testing.T, c *clustertest.Cluster, names ...string) {
	t.Helper()
	for _, n := range c.Nodes() {
		var seen []string
		for _, m := range n.View().Members {
			seen = append(seen, m.Name)
		}
		if len(seen) > 0 {
			require.Equal(t, names, seen, "as %s sees it", n.View().Self.Name)
			require.Contains(t, names, n.View().Self.Name)
		} else {
			require.NotContains(t, names, n.View().Self.Name)
		}
	}
}

func TestTheSideWithTheLeaseGoesOn(t *testing.T) {
	for what, tt := range map[string]struct{ cut, goOn, asked []string }{
		"the lease can be reached": {nil, []string{"n3", "n4", "n5"}, []string{"n3", "n1"}},
		"only by the minority":     {[]string{"n3", "n4", "n5"}, []string{"n1", "n2"}, []string{"n3", "n1"}},
		"only by the majority":     {[]string{"n1", "n2"}, []string{"n3", "n4", "n5"}, []string{"n3", "n1"}},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, lease, census := leased(t)
				lease.cutOff(tt.cut...)
				c.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
				time.Sleep(15 * time.Second)
				requireMembers(t, c, tt.goOn...)
				holder, asked := lease.state()
				require.Equal(t, tt.goOn[0], holder)
				require.Equal(t, tt.asked, asked, "the majority first, each side by one node")
				time.Sleep(30 * time.Second)
				requireMembers(t, c, tt.goOn...)
				require.Equal(t, 1, census.Running())
				require.Equal(t, 1, census.Peak(), "there never were two")
				time.Sleep(time.Minute)
				holder, _ = lease.state()
				require.Empty(t, holder, "it is given back")
				c.Heal()
				c.AwaitQuiet()
				require.Len(t, c.Node("n1").View().Members, 5)
				require.Equal(t, 1, census.Peak())
			})
		})
	}
}

func TestWithoutTheLeaseNobodyGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, lease, census := leased(t)
		lease.cutOff("n1", "n2", "n3", "n4", "n5")
		c.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		time.Sleep(15 * time.Second)
		requireMembers(t, c)
		require.Zero(t, census.Running())
		c.Heal()
		c.AwaitQuiet()
		require.Len(t, c.Node("n1").View().Members, 5)
		require.Equal(t, 1, census.Peak())
	})
}
