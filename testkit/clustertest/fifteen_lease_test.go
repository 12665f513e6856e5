//go:build !quick

package clustertest_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A tenant is a cluster with a singleton that holds a lease.
type tenant struct {
	*clustertest.Cluster
	t      *testing.T
	store  *lease.Memory
	lines  map[string]*line
	ttl    time.Duration
	opts   []singleton.Option
	census *testkit.Census
	refs   map[string]actor.ActorRef[Order]
	slow   time.Duration // how long an instance takes to stop

	mu     sync.Mutex // guards all below
	asked  int
	refuse int // how many requests are still refused
}

// An end is the lease of one node. It counts the requests, and may be cut off from the store.
type end struct {
	lease.Lease
	h *tenant
}

func (e end) AcquireAbove(ctx context.Context, floor uint64) (bool, error) {
	e.h.mu.Lock()
	e.h.asked++
	refused := e.h.refuse > 0
	if refused {
		e.h.refuse--
	}
	e.h.mu.Unlock()
	if refused {
		return false, lease.ErrUnavailable
	}
	return e.Lease.AcquireAbove(ctx, floor)
}

// A line leads from one node to the store, and may be cut.
type line struct {
	*lease.Memory
	cut atomic.Bool
}

func (l *line) Release(ctx context.Context, g lease.Grant) error {
	if l.cut.Load() {
		return lease.ErrUnavailable
	}
	return l.Memory.Release(ctx, g)
}

func (l *line) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	if l.cut.Load() {
		return lease.Grant{}, lease.ErrUnavailable
	}
	return l.Memory.Renew(ctx, g)
}

// acquires returns how often any node has requested the lease.
func (h *tenant) acquires() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// holder returns the node that holds the lease.
func (h *tenant) holder() string {
	name, _, _ := strings.Cut(h.store.Inspect("one").Holder, "/") // a number of the process follows
	return name
}

func newTenant(t *testing.T, c *clustertest.Cluster, ttl time.Duration, opts ...singleton.Option) *tenant {
	t.Helper()
	store := lease.NewMemory()
	return &tenant{
		Cluster: c, t: t, store: store, lines: map[string]*line{}, ttl: ttl, opts: opts,
		census: testkit.NewCensus(t), refs: map[string]actor.ActorRef[Order]{},
	}
}

// leasing runs f with a cluster, all nodes of which have the singleton.
func leasing(t *testing.T, nodes int, ttl time.Duration, f func(t *testing.T, h *tenant)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newTenant(t, clustertest.Start(t, nodes), ttl)
		for _, name := range named(nodes) {
			h.manage(name)
		}
		h.AwaitQuiet()
		require.Equal(t, "n1", given(t, h.refs["n1"]))
		f(t, h)
	})
}

func (h *tenant) manage(name string) {
	h.lines[name] = &line{Memory: h.store}
	l, err := lease.New(h.lines[name], "one", name, lease.Settings{TTL: h.ttl})
	require.NoError(h.t, err)
	factory := func() actor.Behavior[Order] {
		return obedient(name)().OnSignal(func(_ *actor.Context[Order], sig actor.Signal) actor.Behavior[Order] {
			if _, ended := sig.(actor.PostStop); ended {
				time.Sleep(h.slow)
			}
			return behaviors.Same
		})
	}
	opts := append([]singleton.Option{singleton.WithLease(end{l, h})}, h.opts...)
	h.refs[name] = actor.Spawn(h.Node(name), behaviors.Singleton(testkit.Counted(h.census, factory), opts...), "one")
}

func (h *tenant) status(name string) singleton.Status {
	s, ok := singleton.StatusOf(h.Node(name).System, "one")
	require.True(h.t, ok)
	return s
}

func TestALeaseBackendThatIsAwayForLessThanTheTTLChangesNothing(t *testing.T) {
	for name, trouble := range map[string]func(h *tenant){
		"an outage": func(h *tenant) {
			h.store.SetOutage(lease.ErrUnavailable)
			time.Sleep(9 * time.Second) // of 15
			h.store.SetOutage(nil)
		},
		"a lost answer":     func(h *tenant) { h.store.LoseAnswers(1) },
		"some lost answers": func(h *tenant) { h.store.LoseAnswers(4) },
		"a store that is slow": func(h *tenant) {
			h.store.SetDelay(4 * time.Second)
			time.Sleep(time.Minute)
			h.store.SetDelay(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			leasing(t, 3, 15*time.Second, func(t *testing.T, h *tenant) {
				for range 2 {
					trouble(h)
					require.Equal(t, "n1", given(t, h.refs["n3"]))
					time.Sleep(time.Minute)
				}
				require.Equal(t, 1, h.census.Started())
				require.Equal(t, 1, h.acquires(), "nobody has asked for the lease but the first")
			})
		})
	}
}

// A longer outage ends the instance before the lease can have expired, and
// the instance is back soon after the store.
func TestALeaseBackendThatIsAwayForLongerStopsTheInstance(t *testing.T) {
	leasing(t, 3, 15*time.Second, func(t *testing.T, h *tenant) {
		begin := time.Now()
		h.store.SetOutage(lease.ErrUnavailable)
		time.Sleep(15 * time.Second)
		require.Zero(t, h.census.Running())
		require.Less(t, h.census.Timeline()[1].Time.Sub(begin), 15*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := actor.Ask(ctx, h.refs["n1"], func(replyTo actor.ActorRef[string]) Order { return Order{ReplyTo: replyTo} })
		require.ErrorIs(t, err, singleton.ErrUnavailable)
		require.ErrorContains(t, err, lease.ErrUnavailable.Error())
		time.Sleep(time.Minute)
		h.store.SetOutage(nil)
		time.Sleep(singleton.DefaultLeaseRetry + time.Second)
		require.Equal(t, "n1", given(t, h.refs["n3"]))
		require.Equal(t, 1, h.census.Peak())
	})
}

func TestALeaseOfSomebodyElseIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTenant(t, clustertest.Start(t, 3), 15*time.Second, singleton.LeaseRetry(100*time.Millisecond))
		h.store.Usurp("one", "somebody", time.Hour)
		for _, name := range named(3) {
			h.manage(name)
		}
		time.Sleep(time.Minute)
		require.Zero(t, h.census.Started())
		require.Equal(t, singleton.Acquiring, h.status("n1").Phase)
		h.store.Delete("one")
		time.Sleep(150 * time.Millisecond)
		require.Equal(t, 1, h.census.Running())
	})
}

func TestALeavingHostGivesItsLeaseBackWhenTheInstanceHasEnded(t *testing.T) {
	leasing(t, 3, 30*time.Second, func(t *testing.T, h *tenant) {
		h.slow = 2 * time.Second
		var leaves sync.WaitGroup
		begin := time.Now()
		leaves.Go(func() { h.Leave("n1") })
		for h.census.Started() == 1 {
			time.Sleep(10 * time.Millisecond)
			if h.census.Running() == 1 && h.census.Started() == 1 {
				require.Equal(t, "n1", h.holder(), "it may still write")
			}
			require.Less(t, time.Since(begin), 4*time.Second)
		}
		timeline := h.census.Timeline()
		require.Less(t, timeline[2].Time.Sub(timeline[1].Time), 300*time.Millisecond, "nobody waits for the lease to expire")
		require.Equal(t, "n2", h.holder())
		require.Equal(t, 1, h.census.Peak())
		leaves.Wait()
	})
}

// The next start need not wait for the lease to expire.
func TestALeaseIsGivenBackWhenTheLastNodeEnds(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, n *cluster.Node){
		"it leaves":           func(t *testing.T, n *cluster.Node) { require.NoError(t, n.Leave(t.Context())) },
		"it is shut down":     func(t *testing.T, n *cluster.Node) { require.NoError(t, n.Shutdown(t.Context())) },
		"its system is ended": func(t *testing.T, n *cluster.Node) { require.NoError(t, n.System.Shutdown(t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			leasing(t, 1, time.Hour, func(t *testing.T, h *tenant) {
				require.Equal(t, "n1", h.holder())
				end(t, h.Node("n1"))
				time.Sleep(time.Second)
				require.Empty(t, h.holder())
			})
		})
	}
}

func TestALeaseThatIsLostAndFreeAgainBringsAnotherInstance(t *testing.T) {
	leasing(t, 3, 15*time.Second, func(t *testing.T, h *tenant) {
		first := h.status("n1").Generation
		h.store.Usurp("one", "somebody", time.Second)
		time.Sleep(20 * time.Second)
		require.Equal(t, "n1", given(t, h.refs["n2"]))
		require.Equal(t, 1, h.census.Peak())
		require.Equal(t, 2, h.census.Started())
		require.True(t, first.Less(h.status("n1").Generation))
	})
}

func TestASingletonThatHasFinishedGivesItsLeaseBackForGood(t *testing.T) {
	leasing(t, 3, 15*time.Second, func(t *testing.T, h *tenant) {
		h.refs["n2"].Tell(Order{Do: "finish"})
		time.Sleep(time.Second)
		require.Empty(t, h.holder())
		asked := h.acquires()
		h.Add("n4")
		h.manage("n4")
		h.Leave("n1")
		time.Sleep(time.Minute)
		require.Equal(t, asked, h.acquires(), "nobody asks for it")
		require.Equal(t, 1, h.census.Started())
	})
}

// Messages sent meanwhile wait.
func TestTheLeaseOfACrashedHostIsWaitedFor(t *testing.T) {
	leasing(t, 3, 30*time.Second, func(t *testing.T, h *tenant) {
		h.lines["n1"].cut.Store(true) // a dying node does not reach the store either
		h.Crash("n1")
		dead := h.store.Inspect("one").Expires
		time.Sleep(10 * time.Second) // messages sent earlier are lost with the host
		require.Equal(t, "n2", given(t, h.refs["n3"]))
		timeline := h.census.Timeline()
		started := timeline[len(timeline)-1].Time
		require.False(t, started.Before(dead), "not before it has expired")
		require.LessOrEqual(t, started.Sub(dead), singleton.DefaultLeaseRetry+time.Second)
		require.Equal(t, 1, h.census.Peak())
	})
}

func TestALeaseThatCannotBeAskedForIsAskedForOnceInEachInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTenant(t, clustertest.Start(t, 1), 15*time.Second, singleton.LeaseRetry(2*time.Second))
		h.refuse = 3
		h.manage("n1")
		time.Sleep(5 * time.Second)
		require.Equal(t, 3, h.acquires())
		require.Zero(t, h.census.Started())
		require.ErrorIs(t, h.status("n1").Obstacle, lease.ErrUnavailable)
		time.Sleep(2 * time.Second)
		require.Equal(t, 4, h.acquires())
		require.Equal(t, 1, h.census.Running())
	})
}

// Two clusters that do not know each other, so each has a host. With a common
// lease there is one instance, without a lease there are two.
func TestTwoClustersHaveOneInstanceWithALeaseAndTwoWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTenant(t, clustertest.Start(t, 2), 15*time.Second)
		plain := testkit.NewCensus(t)
		h.Partition([]string{"n1", "n2"}, []string{"n8", "n9"})
		island := func(_ string, cfg *cluster.Config) { cfg.Seeds = []string{"n8:7355"} }
		h.Add("n8", island)
		h.Add("n9", island)
		for _, name := range []string{"n1", "n2", "n8", "n9"} {
			h.manage(name)
			actor.Spawn(h.Node(name), behaviors.Singleton(testkit.Counted(plain, ticker)), "plain")
		}
		time.Sleep(long(10 * time.Minute))
		require.Equal(t, 1, h.census.Peak())
		require.Equal(t, 1, h.census.Running())
		require.Equal(t, 2, plain.Running(), "each cluster believes to be the only one")
		has, waits := []string{"n1", "n2"}, []string{"n8", "n9"}
		if h.holder() == "n8" {
			has, waits = waits, has
		}
		require.Equal(t, singleton.Acquiring, h.status(waits[0]).Phase)
		h.Leave(has[1])
		h.Leave(has[0])
		time.Sleep(singleton.DefaultLeaseRetry + time.Second)
		require.Equal(t, waits[0], given(t, h.refs[waits[1]]))
		require.Equal(t, 1, h.census.Peak())
	})
}

func TestTheTokenOfTheLeaseIsTheTermOfTheInstance(t *testing.T) {
	leasing(t, 3, 15*time.Second, func(t *testing.T, h *tenant) {
		require.Equal(t, h.store.Inspect("one").Token, h.status("n1").Generation.Term)
		h.Leave("n1")
		require.Equal(t, "n2", given(t, h.refs["n3"]))
		require.Equal(t, h.store.Inspect("one").Token, h.status("n2").Generation.Term)
	})
}
