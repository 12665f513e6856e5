package overload

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// An ask whose request a node has got ends when that node is removed, long before its deadline. If
// the node leaves, the ask is answered, there or by the next home.
func TestAnAskInFlightEndsWithItsNode(t *testing.T) {
	for _, name := range []string{"plain", "singleton", "singleton, event-sourced", "entity", "entity, event-sourced", "placed"} {
		for n := range 4 {
			leaves, from := n%2 == 1, []string{"node", "client"}[n/2]
			if leaves && name == "plain" || name == "placed" && from == "client" {
				continue // its mailbox ends with it; clients have no refs of placed actors
			}
			t.Run(name+map[bool]string{false: "/crash/", true: "/leave/"}[leaves]+from, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := clustertest.Start(t, 3)
					var l ledger
					to := targets[name](t, c, &l)(callers[from](c))
					c.AwaitQuiet()
					var warm tally
					for tries := 0; warm.answered.Load() == 0; tries++ {
						require.Less(t, tries, 100)
						warm.ask(t, to)
					}
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
					defer cancel()
					var mu sync.Mutex
					var answered, lost, others int
					var all sync.WaitGroup
					for range 50 {
						all.Go(func() {
							_, err := actor.Ask(ctx, to, func(r actor.ActorRef[int]) Work { return Work{Until: time.Now().Add(time.Hour), ReplyTo: r} })
							mu.Lock()
							defer mu.Unlock()
							switch {
							case err == nil:
								answered++
							case says(err):
								lost++
							default:
								others++
								t.Log(err)
							}
						})
					}
					time.Sleep(3 * takes)
					begun := time.Now()
					if leaves {
						c.Leave("n1")
					} else {
						c.Crash("n1")
					}
					all.Wait()
					require.Less(t, time.Since(begun), time.Minute)
					require.Zero(t, others)
					if leaves {
						require.Equal(t, 50, answered)
					}
					require.Equal(t, 50, answered+lost)
				})
			})
		}
	}
}
