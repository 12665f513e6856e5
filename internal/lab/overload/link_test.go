package overload

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/testkit/clustertest"
)

// The time that a request waits for a connection counts.
func TestARequestThatWaitsForAConnectionIsNotHandledLate(t *testing.T) {
	for _, from := range []string{"node", "client"} {
		t.Run(from, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 3)
				var l ledger
				ref := targets["plain"](t, c, &l)
				c.AwaitQuiet()
				to := ref(callers[from](c))
				var warm, y tally
				warm.ask(t, to)
				require.EqualValues(t, 1, warm.answered.Load())
				c.Partition([]string{"n1", "n2"}, []string{"n3", "outside"})
				c.Sever("n1", "n3") // what TCP still has would arrive later
				c.Sever("n1", "outside")
				for range 5 {
					y.ask(t, to)
				}
				require.EqualValues(t, 5, y.ended.Load())
				to.Tell(Work{Tell: 1})
				c.Heal()
				time.Sleep(time.Minute)
				l.mu.Lock()
				defer l.mu.Unlock()
				require.Equal(t, []int{1}, l.told)
				require.Zero(t, l.dead)
				require.Equal(t, 1, l.asked)
			})
		})
	}
}
