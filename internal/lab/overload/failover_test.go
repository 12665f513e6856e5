package overload

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// An ask that ends during a failover says why, since when, and until when. Its request is not
// handled afterwards.
func TestAFailoverIsTold(t *testing.T) {
	for _, name := range []string{"singleton", "singleton, event-sourced", "singleton, at least once", "entity", "entity, event-sourced"} {
		for from, knownAfter := range map[string]time.Duration{"n2": time.Second, "n3": time.Second, "client": 5 * time.Second} {
			t.Run(name+"/"+from, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := clustertest.Start(t, 3)
					var l ledger
					ref := targets[name](t, c, &l)
					c.AwaitQuiet()
					var s *actor.System
					if from == "client" {
						s = c.Dial("outside").System
					} else {
						s = c.Node(from).System
					}
					to := ref(s)
					var warm tally
					for tries := 0; warm.answered.Load() == 0; tries++ {
						require.Less(t, tries, 100)
						warm.ask(t, to)
					}
					c.Kill("n1")
					killed := time.Now()
					var mu sync.Mutex
					var failed, unexplained, answered int
					var all sync.WaitGroup
					for range 400 { // 20 s
						time.Sleep(50 * time.Millisecond)
						all.Go(func() {
							asked := time.Since(killed)
							until := time.Now().Add(patience)
							_, err := actor.AskTimeout(t.Context(), to, patience, func(r actor.ActorRef[int]) Work { return Work{Until: until, ReplyTo: r} })
							mu.Lock()
							defer mu.Unlock()
							if err == nil {
								answered++
								return
							}
							failed++
							if asked > knownAfter && !says(err) {
								unexplained++
								t.Log(asked, err)
							}
						})
					}
					all.Wait()
					time.Sleep(time.Minute)
					require.Zero(t, unexplained, "of %d that failed", failed)
					require.NotZero(t, answered)
					l.mu.Lock()
					defer l.mu.Unlock()
					require.Zero(t, l.dead, "handled after their asks had ended")
					require.LessOrEqual(t, l.asked, answered+1+1, "handled and not answered: at most the one that the host had")
				})
			})
		}
	}
}

func says(err error) bool {
	if errors.Is(err, singleton.ErrUnavailable) || errors.Is(err, sharding.ErrUnavailable) {
		return strings.Contains(err.Error(), "; unavailable since ") && strings.Contains(err.Error(), " at the latest")
	}
	return errors.Is(err, actor.ErrUnreachable)
}
