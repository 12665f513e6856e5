package clustertest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// These tests check the outcome of a failure, and how soon it comes. With the default settings a
// dead node is unreachable within 0.9 s (D), all nodes know a change within 0.3 s (G), and
// unreachable nodes are downed 3 s after the last change (S).
const (
	detection   = 900 * time.Millisecond
	spreading   = 300 * time.Millisecond
	stableAfter = 3 * time.Second
)

// scenario runs f with n nodes that are one cluster, in virtual time.
func scenario(t *testing.T, n int, f func(t *testing.T, c *clustertest.Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, clustertest.Start(t, n)) })
}

// named returns the names "n1" to "nN".
func named(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("n%d", i+1))
	}
	return names
}

// whole waits until the nodes of those names see exactly each other as members, up, reachable and
// in agreement.
func whole(t *testing.T, c *clustertest.Cluster, within time.Duration, names ...string) {
	t.Helper()
	begin := time.Now()
	for {
		why := differs(c, names)
		if why == "" {
			return
		}
		if time.Since(begin) > within {
			require.Fail(t, "no agreement", "after %v: %s", within, why)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// differs says what prevents agreement, or returns "".
func differs(c *clustertest.Cluster, names []string) string {
	leaders := map[remote.NodeID]bool{}
	for _, name := range names {
		v := c.Node(name).View()
		if leader, ok := v.Leader(); ok {
			leaders[leader.ID()] = true
		}
		if len(v.Members) != len(names) || len(v.Unreachable()) > 0 || !v.Converged {
			return name + " sees " + summary(v)
		}
		for _, other := range names {
			if m, _ := v.Member(other); m.Status != cluster.Up || m.ID() != c.Node(other).View().Self.ID() {
				return name + " sees " + summary(v)
			}
		}
	}
	if len(leaders) != 1 {
		return fmt.Sprintf("%d leaders", len(leaders))
	}
	return ""
}

func summary(v cluster.View) string {
	var words []string
	for _, m := range v.Members {
		words = append(words, fmt.Sprintf("%s %v (reachable %t)", m.Name, m.Status, v.Reachable(m)))
	}
	return fmt.Sprintf("%s; converged %t", strings.Join(words, ", "), v.Converged)
}

// A watcher counts the views of nodes.
type watcher struct {
	unreachable map[string]int // views in which a member was unreachable, by its name
	removed     map[string]int // views without a member
}

// watch counts all views of a node from now on, until stop is called.
func watch(n *cluster.Node, others ...string) (w *watcher, stop func()) {
	w = &watcher{unreachable: map[string]int{}, removed: map[string]int{}}
	done, quit := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.look(n.View(), others)
			case <-quit:
				return
			}
		}
	}()
	return w, func() {
		close(quit)
		<-done
	}
}

func (w *watcher) look(v cluster.View, others []string) {
	for _, m := range v.Unreachable() {
		w.unreachable[m.Name]++
	}
	for _, name := range others {
		if m, ok := v.Member(name); !ok || m.Status != cluster.Up {
			w.removed[name]++
		}
	}
}

// untouched runs f, and requires that no view of any node has changed meanwhile.
func untouched(t *testing.T, c *clustertest.Cluster, f func()) {
	t.Helper()
	before := versions(c)
	f()
	require.Equal(t, before, versions(c), "views have changed")
}

// long is a time in which a cluster runs undisturbed: d, or a twelfth of d in make test.
func long(d time.Duration) time.Duration { return effort.Of(d/12, d, d) }

func versions(c *clustertest.Cluster) map[string]uint64 {
	all := map[string]uint64{}
	for _, n := range c.Nodes() {
		all[n.View().Self.Name] = n.View().Version
	}
	return all
}
