package overload

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// bounded are targets with a mailbox of ten places.
var bounded = map[string]target{
	"singleton": func(_ *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(l.plain), "s", actor.Bounded(10))
		}
		return func(s *actor.System) actor.ActorRef[Work] { return singleton.Ref[Work](s, "s") }
	},
	"entity": func(t *testing.T, c *clustertest.Cluster, l *ledger) func(s *actor.System) actor.ActorRef[Work] {
		return entityOf(t, c, func(sharding.Entity) actor.Behavior[Work] { return l.plain() }, actor.Bounded(10))
	},
	"placed": placedWith(actor.Bounded(10)),
}

// A mailbox that is given to a singleton, a sharded type or a placed actor is the mailbox of the
// actor of the user: what it refuses is not handled, and its ask knows at once, wherever that is.
func TestAMailboxIsThatOfTheActorOfTheUser(t *testing.T) {
	for name, prepare := range bounded {
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
					l.asked = 0
					requireRefusals(t, to, &l)
				})
			})
		}
	}
}

func requireRefusals(t *testing.T, to actor.ActorRef[Work], l *ledger) {
	t.Helper()
	var mu sync.Mutex
	var answered, full int
	var slowest time.Duration
	var all sync.WaitGroup
	for range 2000 {
		time.Sleep(time.Millisecond)
		all.Go(func() {
			begun := time.Now()
			_, err := actor.AskTimeout(t.Context(), to, patience, func(r actor.ActorRef[int]) Work { return Work{Until: begun.Add(patience), ReplyTo: r} })
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answered++
			} else if errors.Is(err, actor.ErrMailboxFull) {
				full++
				slowest = max(slowest, time.Since(begun))
			}
		})
	}
	all.Wait()
	require.Equal(t, 2000, answered+full)
	require.Equal(t, l.asked, answered)
	require.GreaterOrEqual(t, answered, int(2*time.Second/takes))
	require.Less(t, slowest, 10*time.Millisecond)
}
