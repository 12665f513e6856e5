package singleton_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/singletons/wire"
)

// A node of an older release has no such feature.
func TestAHostTakesMessagesOfOtherNodesWithoutItsHubIfItHasThatFeature(t *testing.T) {
	const messages = 10
	for straight, want := range map[bool]int64{false: messages, true: 0} {
		inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
			c.straight = straight
			var byHub atomic.Int64
			c.net.losing(func(_ link, msg any) bool {
				if _, is := msg.(wire.Message[wire.Deliver]); is {
					byHub.Add(1)
				}
				return false
			})
			book := newLedger()
			refs := onAll(c, book.keep(0))
			settle()
			for n := range messages {
				refs["b"].Tell(numbered{"b", n + 1})
			}
			settle()
			book.requireAll(t, messages, "b")
			require.Equal(t, want, byHub.Load())
		})
	}
}
