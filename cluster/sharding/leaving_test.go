package sharding_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// leaveInTurn lets all nodes leave, each that much after the one before, and returns the longest
// time that one has taken.
func leaveInTurn(c *clustertest.Cluster, apart time.Duration) (longest time.Duration) {
	var leaving sync.WaitGroup
	took := make(chan time.Duration, len(c.Nodes()))
	for i, n := range c.Nodes() {
		name := n.View().Self.Name
		leaving.Go(func() {
			time.Sleep(time.Duration(i) * apart)
			begun := time.Now()
			c.Leave(name)
			took <- time.Since(begun)
		})
	}
	leaving.Wait()
	close(took)
	for d := range took {
		longest = max(longest, d)
	}
	return longest
}

func TestNodesThatAllLeaveDoNotWaitForEachOther(t *testing.T) {
	effort.Unraced(t)
	for _, apart := range []time.Duration{0, 20 * time.Millisecond, 150 * time.Millisecond, 700 * time.Millisecond} {
		for _, settled := range []time.Duration{0, 1500 * time.Millisecond, time.Minute} {
			t.Run(fmt.Sprint(apart, " apart after ", settled), func(t *testing.T) {
				inShop(t, 3, func(t *testing.T, s *shop) {
					s.where("n1", 10)
					time.Sleep(settled)
					require.Less(t, leaveInTurn(s.Cluster, apart), 5*time.Second)
				})
			})
		}
	}
}

// A node whose shards nobody else can host does not wait, whatever becomes of the coordinator.
func TestANodeWhoseShardsNobodyElseHostsLeavesAtOnce(t *testing.T) {
	for _, others := range []string{"proxies", "of another role"} {
		t.Run(others, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 2)
				c.Add("worker", func(_ string, cfg *cluster.Config) { cfg.Roles = []string{"worker"} })
				store := journal.NewMemory()
				opts := map[string][]sharding.Option{}
				for _, name := range []string{"n1", "n2", "worker"} {
					opts[name] = []sharding.Option{sharding.Shards(16)}
					if others == "of another role" {
						opts[name] = append(opts[name], sharding.Role("worker"))
					} else if name != "worker" {
						opts[name] = append(opts[name], sharding.ProxyOnly())
					}
				}
				for name, of := range opts {
					r, err := sharding.Start(c.Node(name), "notebook", func(e sharding.Entity) actor.Behavior[note] { return persistentNotebook(e, store, name) }, of...)
					require.NoError(t, err)
					r.Ref("a").Tell(note{Text: "one"})
				}
				time.Sleep(time.Second)
				var leaving sync.WaitGroup
				leaving.Go(func() { c.Leave("n1") }) // with the coordinator
				time.Sleep(10 * time.Millisecond)
				begun := time.Now()
				c.Leave("worker")
				require.Less(t, time.Since(begun), 5*time.Second)
				leaving.Wait()
			})
		})
	}
}
