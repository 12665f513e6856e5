package sharding_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

const leaseTTL = 15 * time.Second

// A guarded is a shop whose entities are in memory, and whose nodes host while they have leases.
type guarded struct {
	*shop
	leases *lease.Memory

	handled map[string]uint64 // the generation that has handled the last message, by entity
	stale   []string          // messages that were handled by an earlier one; the mutex of the shop guards both
}

func leasesOf(store *lease.Memory) func(name, owner string) (lease.Lease, error) {
	return func(name, owner string) (lease.Lease, error) {
		return lease.New(store, name, owner, lease.Settings{TTL: leaseTTL})
	}
}

func inGuarded(t *testing.T, nodes int, f func(t *testing.T, g *guarded), opts ...sharding.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &guarded{
			shop:   &shop{t: t, store: journal.NewMemory(), regions: map[string]*sharding.Region[note]{}, at: map[string]int{}},
			leases: lease.NewMemory(), handled: map[string]uint64{},
		}
		g.opts = append([]sharding.Option{sharding.Shards(16), sharding.WithLease(leasesOf(g.leases))}, opts...)
		g.logs, g.entries = observer.New(zap.WarnLevel)
		g.Cluster = clustertest.Start(t, nodes, func(_ string, cfg *cluster.Config) {
			cfg.Journal = g.store
			cfg.Logger, cfg.Downing = zap.New(g.logs), stubborn{downing.KeepMajority{StableAfter: time.Second}}
		})
		for n := range nodes {
			g.begin(fmt.Sprint("n", n+1))
		}
		f(t, g)
		g.mu.Lock()
		defer g.mu.Unlock()
		require.Empty(t, g.stale, "an entity has run twice")
	})
}

func (g *guarded) begin(name string) {
	g.t.Helper()
	r, err := sharding.Start(g.Node(name), "notebook", g.diary(name), g.opts...)
	require.NoError(g.t, err)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.regions[name] = r
}

// diary returns the factory of entities that answer with their node, and check that no message is
// handled by an earlier generation than the one before.
func (g *guarded) diary(node string) func(sharding.Entity) actor.Behavior[note] {
	return func(e sharding.Entity) actor.Behavior[note] {
		return behaviors.Receive(func(_ *actor.Context[note], n note) actor.Behavior[note] {
			if n.Text == "slow" {
				time.Sleep(40 * time.Second)
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			if e.Generation.Term < g.handled[e.ID] {
				g.stale = append(g.stale, fmt.Sprintf("%s of generation %v on %s after %d", e.ID, e.Generation, node, g.handled[e.ID]))
			}
			g.handled[e.ID] = e.Generation.Term
			if n.ReplyTo != (actor.ActorRef[string]{}) {
				n.ReplyTo.Tell(node)
			}
			return nil
		})
	}
}

func (g *guarded) held(node string) bool {
	return g.leases.Inspect(leaseName(node)).Holder != ""
}

func leaseName(node string) string { return "test-sharding-notebook/" + node }

func TestANodeWithoutItsLeaseHostsNothingAndAsksAgain(t *testing.T) {
	inGuarded(t, 1, func(t *testing.T, g *guarded) {
		g.leases.Usurp(leaseName("n2"), "somebody", time.Hour)
		g.Add("n2")
		g.begin("n2")
		g.Leave("n1") // which gives its lease back; otherwise its shards might wait until that expires
		g.leases.SetOutage(errors.New("the store is away"))
		g.leases.Delete(leaseName("n2"))
		time.Sleep(time.Minute)
		e := g.explained("n2", "e0")
		require.Equal(t, sharding.Homeless, e.State)
		require.Equal(t, "no member that hosts the type has its lease: n2", e.Why)
		require.Contains(t, details(t, g.Node("n2")).EntityTypes[0].Lease, "the store is away")
		require.Len(t, g.entries.FilterMessageSnippet("hosts none of its entities").FilterFieldKey("why").All(), 2, "each reason is said once")
		g.leases.SetOutage(nil)
		time.Sleep(7 * time.Second)
		require.Equal(t, map[string]int{"n2": 10}, g.where("n2", 10))
		require.Equal(t, "held", details(t, g.Node("n2")).EntityTypes[0].Lease)
	})
}

func TestEntitiesEndWhenTheLeaseIsLost(t *testing.T) {
	effort.Unraced(t)
	inGuarded(t, 2, func(t *testing.T, g *guarded) {
		time.Sleep(5 * time.Minute)
		at := g.where("n1", 40)
		require.Len(t, at, 2, "%v", at)
		g.leases.Usurp(leaseName("n2"), "somebody", time.Hour)
		time.Sleep(10 * time.Second) // by its next renewal it knows
		require.Zero(t, g.region("n2").Stats().Awake)
		require.Equal(t, map[string]int{"n1": 40}, g.where("n2", 40), "they run elsewhere, and no message is lost")
		require.NotEmpty(t, g.entries.FilterMessageSnippet("lease for a type lost").All())
		g.leases.Delete(leaseName("n2"))
		time.Sleep(5 * time.Minute)
		require.Len(t, g.where("n1", 40), 2, "it hosts again")
	})
}

func TestTheShardsOfACrashedNodeWaitForItsLease(t *testing.T) {
	effort.Unraced(t)
	inGuarded(t, 3, func(t *testing.T, g *guarded) {
		time.Sleep(5 * time.Minute)
		require.Contains(t, g.where("n2", 40), "n3")
		id := ""
		for n := 0; id == ""; n++ {
			if at, err := g.ask("n2", fmt.Sprint("e", n), "where"); err == nil && at == "n3" {
				id = fmt.Sprint("e", n)
			}
		}
		g.Kill("n3")
		time.Sleep(9 * time.Second) // it has been removed
		require.True(t, g.held("n3"))
		e := g.explained("n2", id)
		require.Contains(t, e.Why, "n3 is no longer a member, and its lease is not free yet")
		g.region("n2").Ref(id).Tell(note{Text: "wait"})
		time.Sleep(15 * time.Second)
		require.NotContains(t, g.where("n2", 40), "n3")
		require.False(t, g.held("n3"), "the coordinator has given it back")
	})
}

// stubborn is downing whose losing side runs on.
type stubborn struct{ majority downing.KeepMajority }

func (d stubborn) Decide(s downing.Situation) downing.Decision {
	if here, there := s.Split(); len(here) < len(there) {
		return downing.Decision{}
	}
	return d.majority.Decide(s)
}

func (stubborn) String() string         { return "stubborn" }
func (d stubborn) Delay() time.Duration { return d.majority.Delay() }
func (d stubborn) Skew() time.Duration  { return d.majority.Skew() }

// A node that cannot reach the others, but the store, may run on after it has been removed.
func TestWithALeaseNoEntityRunsTwiceWhenAFormerMemberRunsOn(t *testing.T) {
	effort.Unraced(t)
	inGuarded(t, 3, func(t *testing.T, g *guarded) {
		time.Sleep(5 * time.Minute)
		id := ""
		for n := 0; id == ""; n++ {
			if at, err := g.ask("n2", fmt.Sprint("e", n), "where"); err == nil && at == "n3" {
				id = fmt.Sprint("e", n)
			}
		}
		stop := make(chan struct{})
		var telling sync.WaitGroup
		for _, from := range []string{"n1", "n3"} {
			telling.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					case <-time.After(100 * time.Millisecond):
					}
					g.region(from).Ref(fmt.Sprint("e", n%40)).Tell(note{Text: "x"})
				}
			})
		}
		g.Partition([]string{"n3"}, []string{"n1", "n2"})
		time.Sleep(2 * time.Minute) // longer than the margin, and than a lease lasts
		at, err := g.ask("n3", id, "where")
		require.NoError(t, err)
		require.Equal(t, "n3", at, "it still has its lease")
		require.Contains(t, g.explained("n2", id).Why, "n3 is no longer a member, and its lease is not free yet: another has it")
		before := g.leases.Inspect(leaseName("n3")).Token
		g.Heal()
		g.AwaitQuiet()
		time.Sleep(5 * time.Minute)
		close(stop)
		telling.Wait()
		require.Len(t, g.where("n1", 40), 3, "n3 is back, and hosts again")
		require.Greater(t, g.leases.Inspect(leaseName("n3")).Token, before)
	})
}

func TestANodeThatLeavesGivesItsLeaseBack(t *testing.T) {
	inGuarded(t, 2, func(t *testing.T, g *guarded) {
		time.Sleep(time.Minute)
		g.where("n1", 40)
		require.True(t, g.held("n2"))
		g.Leave("n2")
		require.False(t, g.held("n2"))
		begun := time.Now()
		require.Equal(t, map[string]int{"n1": 40}, g.where("n1", 40))
		require.Less(t, time.Since(begun), time.Second, "nobody has waited for it")
	})
}

// What others take as a proof that nothing runs here any more is that the lease is free, or that it
// has been acquired anew.
func TestALostLeaseIsAskedForWhenTheLastEntityHasEnded(t *testing.T) {
	inGuarded(t, 1, func(t *testing.T, g *guarded) {
		time.Sleep(10 * time.Second)
		g.tell("n1", "e0", "slow")
		time.Sleep(time.Second)
		g.leases.Usurp(leaseName("n1"), "somebody", time.Second)
		time.Sleep(30 * time.Second)
		require.False(t, g.held("n1"), "the handler still runs")
		time.Sleep(20 * time.Second)
		require.True(t, g.held("n1"))
		require.Equal(t, map[string]int{"n1": 4}, g.where("n1", 4))
	})
}

// A doubtful lease is not valid, although it has not been reported as lost yet.
type doubtful struct {
	lease.Lease
	doubted *atomic.Bool
}

func (l doubtful) Valid() bool { return !l.doubted.Load() && l.Lease.Valid() }

func TestAnEntityHandlesNoMessageUnderALeaseThatIsNotValid(t *testing.T) {
	doubted, store := &atomic.Bool{}, lease.NewMemory()
	inGuarded(t, 1, func(t *testing.T, g *guarded) {
		g.where("n1", 4)
		before := g.explained("n1", "e0").Term
		doubted.Store(true)
		answer := make(chan error)
		go func() {
			_, err := g.ask("n1", "e0", "where")
			answer <- err
		}()
		time.Sleep(5 * time.Second)
		g.mu.Lock()
		require.Equal(t, before, g.handled["e0"])
		g.mu.Unlock()
		doubted.Store(false)
		require.NoError(t, <-answer, "it has waited for the next generation")
		g.mu.Lock()
		defer g.mu.Unlock()
		require.Greater(t, g.handled["e0"], before)
	}, sharding.WithLease(func(name, owner string) (lease.Lease, error) {
		l, err := leasesOf(store)(name, owner)
		return doubtful{l, doubted}, err
	}))
}

// A belated lease lets something happen between its first acquisition and the answer, and reports
// losses when it is told to.
type belated struct {
	lease.Lease
	between func(ctx context.Context)
	lost    func(reason error)
	asked   atomic.Bool
}

func (l *belated) AcquireAbove(ctx context.Context, floor uint64) (bool, error) {
	held, err := l.Lease.AcquireAbove(ctx, floor)
	if !l.asked.Swap(true) {
		l.between(ctx)
	}
	return held, err
}

func (l *belated) OnLost(f func(error)) (cancel func()) {
	l.lost = f
	return l.Lease.OnLost(f)
}

// inBelated runs one node, with a lease to which something happens before its first answer.
func inBelated(t *testing.T, between func(ctx context.Context, store *lease.Memory), f func(t *testing.T, g *guarded, l *belated)) {
	t.Helper()
	store := lease.NewMemory()
	l := &belated{between: func(ctx context.Context) { between(ctx, store) }}
	inGuarded(t, 1, func(t *testing.T, g *guarded) {
		g.leases = store
		f(t, g, l)
	}, sharding.WithLease(func(name, owner string) (_ lease.Lease, err error) {
		l.Lease, err = leasesOf(store)(name, owner)
		return l, err
	}))
}

func TestALeaseThatIsLostBeforeItsAnswerArrivesIsAskedForAgain(t *testing.T) {
	inBelated(t, func(_ context.Context, store *lease.Memory) {
		store.Usurp(leaseName("n1"), "somebody", time.Second)
		time.Sleep(leaseTTL) // until the loss has been reported
	}, func(t *testing.T, g *guarded, _ *belated) {
		time.Sleep(leaseTTL + time.Second)
		require.Contains(t, details(t, g.Node("n1")).EntityTypes[0].Lease, "lost its lease")
		time.Sleep(5 * time.Second)
		require.Equal(t, "held", details(t, g.Node("n1")).EntityTypes[0].Lease)
		require.Equal(t, map[string]int{"n1": 4}, g.where("n1", 4))
	})
}

func TestALossThatIsReportedAfterTheLeaseWasAcquiredAgainEndsNothing(t *testing.T) {
	inBelated(t, func(context.Context, *lease.Memory) {}, func(t *testing.T, g *guarded, l *belated) {
		require.Equal(t, map[string]int{"n1": 4}, g.where("n1", 4))
		l.lost(lease.ErrExpired) // of an earlier time
		synctest.Wait()
		require.Equal(t, 4, g.region("n1").Stats().Awake)
		require.Empty(t, g.entries.FilterMessageSnippet("lease for a type lost").All())
	})
}

func TestANodeThatStopsWhileItAcquiresItsLeaseGivesItBack(t *testing.T) {
	inBelated(t, func(ctx context.Context, _ *lease.Memory) { <-ctx.Done() }, func(t *testing.T, g *guarded, _ *belated) {
		time.Sleep(10 * time.Second)
		require.True(t, g.held("n1"))
		g.Leave("n1")
		time.Sleep(time.Minute)
		require.False(t, g.held("n1"))
	})
}

func TestLeasesThatCannotBeMadeAreTriedAgain(t *testing.T) {
	var mu sync.Mutex
	fails := true
	store := lease.NewMemory()
	inGuarded(t, 1, func(t *testing.T, g *guarded) {
		time.Sleep(time.Minute)
		require.Contains(t, g.explained("n1", "e0").Why, "has its lease: n1")
		logged := g.entries.FilterMessageSnippet("hosts none of its entities").All()
		require.Len(t, logged, 1)
		require.Contains(t, logged[0].ContextMap()["why"], "panic: no store")
		require.ErrorContains(t, askIn(t, g.region("n1"), "e0"), "has no home yet, and this node has no lease for the type: ")
		require.ErrorContains(t, askIn(t, g.region("n1"), "e0"), "no store")
		mu.Lock()
		fails = false
		mu.Unlock()
		time.Sleep(6 * time.Second)
		require.Equal(t, map[string]int{"n1": 4}, g.where("n1", 4))
	}, sharding.WithLease(func(name, owner string) (lease.Lease, error) {
		mu.Lock()
		defer mu.Unlock()
		if fails {
			panic("no store")
		}
		return leasesOf(store)(name, owner)
	}))
}

func TestTheLeasesOfANodeAreThoseOfItsTypes(t *testing.T) {
	for name, own := range map[string][]sharding.Option{"of the node": nil, "of the type": {sharding.WithLease(leasesOf(lease.NewMemory()))}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				created, leases := make(chan string, 100), leasesOf(lease.NewMemory())
				c := clustertest.Start(t, 1, func(_ string, cfg *cluster.Config) {
					cfg.Leases = func(name, owner string) (lease.Lease, error) {
						created <- name + " of " + owner
						return leases(name, owner)
					}
				})
				r, err := sharding.Start(c.Node("n1"), "notebook", notebook, own...)
				require.NoError(t, err)
				require.Equal(t, "a:", read(t, r.Ref("a")))
				close(created)
				var all []string
				for one := range created {
					all = append(all, one)
				}
				ofType := "test-sharding-notebook/n1 of n1:7355"
				require.Equal(t, own == nil, slices.Contains(all, ofType), all)
			})
		})
	}
}

func TestLeasesNeedAJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 1, clustertest.WithJournal(nil))
		with := sharding.WithLease(leasesOf(lease.NewMemory()))
		_, err := sharding.Start(c.Node("n1"), "notebook", notebook, with)
		require.ErrorIs(t, err, persistence.ErrNoJournal)

		alone := start(t, testkit.NewSystem(t), notebook, with)
		require.Equal(t, "a:", read(t, alone.Ref("a")), "without a cluster it has no effect")
	})
}

// Whatever happens to the nodes, the generation that handles the messages of an entity never falls:
// no entity runs on after the next one has begun.
func TestInChaosNoEntityRunsTwiceWithLeases(t *testing.T) {
	effort.Verify(t)
	stay := func(_ string, cfg *cluster.Config) {
		cfg.Downing = stubborn{downing.KeepMajority{StableAfter: time.Second}}
	}
	clustertest.Chaos{Nodes: 3, Faults: 5, ShrinkRuns: -1, Options: []clustertest.Option{stay}}.Run(t, func(r *clustertest.Round) {
		g := &guarded{shop: &shop{}, leases: lease.NewMemory(), handled: map[string]uint64{}}
		stop := make(chan struct{})
		regions := map[string]*sharding.Region[note]{}
		r.EachNode(func(n *cluster.Node) {
			name := n.View().Self.Name
			region, err := sharding.Start(n, "notebook", g.diary(name), sharding.Shards(8), sharding.WithLease(leasesOf(g.leases)))
			if err != nil {
				r.Fatalf("%v", err)
			}
			g.mu.Lock()
			regions[name] = region
			g.mu.Unlock()
			go func() {
				for i := 0; ; i++ {
					region.Ref(fmt.Sprint("e", i%12)).Tell(note{Text: "x"})
					select {
					case <-n.Terminated():
						return
					case <-stop:
						return
					case <-r.Context().Done():
						return
					case <-time.After(100 * time.Millisecond):
					}
				}
			}()
		})
		r.Finally("each entity has run once at a time, and answers", func() error {
			time.Sleep(2 * time.Minute)
			close(stop)
			time.Sleep(time.Second)
			for _, n := range r.Nodes() {
				g.mu.Lock()
				region := regions[n.View().Self.Name]
				g.mu.Unlock()
				for e := range 12 {
					_, err := actor.AskTimeout(r.Context(), region.Ref(fmt.Sprint("e", e)), 5*time.Second, func(to actor.ActorRef[string]) note { return note{ReplyTo: to} })
					if err != nil {
						return fmt.Errorf("e%d asked by %s: %w", e, n.View().Self.Name, err)
					}
				}
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			if len(g.stale) > 0 {
				return errors.New(strings.Join(g.stale, "; "))
			}
			return nil
		})
	})
}
