package overload

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A Work is a request, or with Tell a message of which each must be handled, in order.
type Work struct {
	Tell    int
	Until   time.Time
	ReplyTo actor.ActorRef[int]
}

// poison is the Tell of a request at which the handler fails.
const poison = -2

type Done struct{ N int }

func init() {
	actor.RegisterType[Work]("overload.work")
	actor.RegisterType[Done]("overload.done")
}

const (
	takes    = 10 * time.Millisecond
	patience = 500 * time.Millisecond
	// onTheWay is the most that a request may be late: the time on the network is not counted.
	onTheWay = 5 * time.Millisecond
)

// A ledger has what actors have handled.
type ledger struct {
	mu    sync.Mutex
	asked int
	dead  int // begun after the ask had ended
	told  []int
}

func (l *ledger) handle(w Work) {
	l.mu.Lock()
	switch {
	case w.Tell == poison:
		l.mu.Unlock()
		panic("poison")
	case w.Tell > 0:
		l.told = append(l.told, w.Tell)
	case time.Since(w.Until) > onTheWay:
		l.dead++
		l.asked++
	default:
		l.asked++
	}
	l.mu.Unlock()
	time.Sleep(takes)
}

func (l *ledger) plain() actor.Behavior[Work] {
	return behaviors.Receive(func(_ *actor.Context[Work], w Work) actor.Behavior[Work] {
		l.handle(w)
		if w.Tell == 0 {
			w.ReplyTo.Tell(1)
		}
		return behaviors.Same
	})
}

func (l *ledger) eventSourced(id string, j persistence.Journal) actor.Behavior[Work] {
	return behaviors.EventSourced(id, j, 0, func(n int, _ Done) int { return n + 1 }, func(_ *actor.Context[Work], n int, w Work) persistence.Effect[Done] {
		l.handle(w)
		if w.Tell > 0 {
			return persistence.Persist(Done{n})
		}
		return persistence.ThenReply(persistence.Persist(Done{n}), w.ReplyTo, n)
	})
}

// A target makes an actor of n1, and returns how a node or a client addresses it.
type target func(t *testing.T, c *clustertest.Cluster, l *ledger) (ref func(s *actor.System) actor.ActorRef[Work])

func singletonOf(behavior func(l *ledger) actor.Behavior[Work], opts ...singleton.Option) target {
	return func(_ *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[Work] { return behavior(l) }, opts...), "s")
		}
		return func(s *actor.System) actor.ActorRef[Work] { return singleton.Ref[Work](s, "s") }
	}
}

var placed = placement.NewType[string, Work]("desk")

var targets = map[string]target{
	"plain": func(_ *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		path := actor.Spawn(c.Node("n1"), l.plain(), "w").Path()
		return func(s *actor.System) actor.ActorRef[Work] { return actor.Resolve[Work](s, path) }
	},
	"stash": func(_ *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		path := actor.Spawn(c.Node("n1"), behaviors.WithStash(10_000, func(stash *actor.Stash[Work]) actor.Behavior[Work] {
			return behaviors.Setup(func(ctx *actor.Context[Work]) actor.Behavior[Work] {
				ctx.After("open", 2*time.Second, Work{Tell: -1})
				return behaviors.Receive(func(_ *actor.Context[Work], w Work) actor.Behavior[Work] {
					if w.Tell == -1 {
						return stash.UnstashAll(l.plain())
					}
					return stash.Stash(w)
				})
			})
		}), "w").Path()
		return func(s *actor.System) actor.ActorRef[Work] { return actor.Resolve[Work](s, path) }
	},
	"prioritized": func(_ *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		path := actor.Spawn(c.Node("n1"), l.plain(), "w", actor.Prioritized(func(w Work) int { return min(w.Tell, 1) })).Path()
		return func(s *actor.System) actor.ActorRef[Work] { return actor.Resolve[Work](s, path) }
	},
	"singleton":                singletonOf((*ledger).plain),
	"singleton, small window":  singletonOf((*ledger).plain, singleton.AtLeastOnce(4)),
	"singleton that is bound":  singletonOf(func(l *ledger) actor.Behavior[Work] { return l.plain() }, singleton.Expire(time.Minute)),
	"singleton, at least once": singletonOf((*ledger).plain, singleton.AtLeastOnce(64)),
	"singleton, event-sourced": func(t *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		j := journal.NewMemory()
		return singletonOf(func(l *ledger) actor.Behavior[Work] { return l.eventSourced("s", j) })(t, c, l)
	},
	"entity": func(t *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		return entityOf(t, c, func(sharding.Entity) actor.Behavior[Work] { return l.plain() })
	},
	"entity, event-sourced": func(t *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		j := journal.NewMemory()
		return entityOf(t, c, func(e sharding.Entity) actor.Behavior[Work] { return l.eventSourced(e.PersistenceID(), j) })
	},
	"placed": placedWith(),
}

func placedWith(opts ...actor.SpawnOption) target {
	return func(t *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		for i, n := range c.Nodes() {
			coordinator, err := placement.Start(n, placement.Config{Factories: []placement.Factory{placed.Factory(func(string) actor.Behavior[Work] { return l.plain() }, opts...)}})
			require.NoError(t, err)
			if i == 0 {
				_, err = coordinator.Submit(t.Context(), placed.Spec("desks/one", ""))
				require.NoError(t, err)
			}
		}
		return func(s *actor.System) actor.ActorRef[Work] { return placed.Ref(s, "desks/one") }
	}
}

func entityOf(t *testing.T, c *clustertest.Cluster, f func(sharding.Entity) actor.Behavior[Work], opts ...actor.SpawnOption) func(s *actor.System) actor.ActorRef[Work] {
	for _, n := range c.Nodes() {
		_, err := sharding.Start(n, "e", f, sharding.SpawnOptions(opts...))
		require.NoError(t, err)
	}
	return func(s *actor.System) actor.ActorRef[Work] { return sharding.RefOf[Work](s, "e", "hot") }
}

// A tally counts how asks have ended.
type tally struct{ answered, overloaded, ended, other atomic.Int64 }

func (y *tally) ask(t *testing.T, to actor.ActorRef[Work]) {
	until := time.Now().Add(patience)
	_, err := actor.AskTimeout(t.Context(), to, patience, func(r actor.ActorRef[int]) Work { return Work{Until: until, ReplyTo: r} })
	switch {
	case err == nil:
		y.answered.Add(1)
	case errors.Is(err, actor.ErrOverloaded), errors.Is(err, actor.ErrMailboxFull), errors.Is(err, singleton.ErrBufferFull):
		y.overloaded.Add(1)
	case errors.Is(err, context.DeadlineExceeded):
		y.ended.Add(1)
	default:
		y.other.Add(1)
		t.Log(err)
	}
}

// load asks at some times the rate that can be answered, and tells now and then.
func (y *tally) load(t *testing.T, to actor.ActorRef[Work], times int, lasts time.Duration) (told int) {
	var all sync.WaitGroup
	gap := takes / time.Duration(times)
	for n := range int(lasts / gap) {
		time.Sleep(gap)
		if n%100 == 0 {
			told++
			to.Tell(Work{Tell: told})
		}
		all.Go(func() { y.ask(t, to) })
	}
	all.Wait()
	return told
}

// callers are where the asks come from.
var callers = map[string]func(c *clustertest.Cluster) *actor.System{
	"host":   func(c *clustertest.Cluster) *actor.System { return c.Node("n1").System },
	"node":   func(c *clustertest.Cluster) *actor.System { return c.Node("n3").System },
	"client": func(c *clustertest.Cluster) *actor.System { return c.Dial("outside").System },
}

// No request is handled after its ask has ended, no tell is dropped, and an overloaded actor
// answers most of what it can.
func TestOverload(t *testing.T) {
	for name, prepare := range targets {
		for from, system := range callers {
			if name == "placed" && from == "client" {
				continue // clients have no refs of placed actors
			}
			t.Run(name+"/"+from, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := clustertest.Start(t, 3)
					var l ledger
					ref := prepare(t, c, &l)
					c.AwaitQuiet()
					to := ref(system(c))
					var warm tally
					for tries := 0; warm.answered.Load() == 0; tries++ {
						require.Less(t, tries, 100)
						warm.ask(t, to)
					}
					var y tally
					const lasts = 4 * time.Second
					told := y.load(t, to, 3, lasts)
					require.Zero(t, y.other.Load())
					if name != "stash" { // which is shut for a while
						require.GreaterOrEqual(t, float64(y.answered.Load()), 0.8*float64(lasts/takes), "%+v", &y)
					}
					var after tally
					begun := time.Now()
					for tries := 0; after.answered.Load() == 0; tries++ {
						require.Less(t, tries, 100)
						after.ask(t, to)
					}
					require.Less(t, time.Since(begun), time.Second)
					time.Sleep(10 * time.Second)
					l.mu.Lock()
					defer l.mu.Unlock()
					require.Zero(t, l.dead, "handled after their asks had ended")
					require.Len(t, l.told, told)
					require.IsIncreasing(t, l.told)
				})
			})
		}
	}
}
