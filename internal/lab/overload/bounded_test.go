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
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// The mailbox that is given to the Spawn of a singleton is the mailbox of its instance: what it
// refuses is not handled, and its ask knows at once, wherever that is.
func TestTheMailboxOfASingletonIsThatOfItsInstance(t *testing.T) {
	for from, system := range callers {
		t.Run(from, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 3)
				var l ledger
				for _, n := range c.Nodes() {
					actor.Spawn(n, behaviors.Singleton(l.plain), "s", actor.Bounded(10))
				}
				c.AwaitQuiet()
				to := singleton.Ref[Work](system(c), "s")
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
			})
		})
	}
}
