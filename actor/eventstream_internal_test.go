package actor

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Subscribers that have ended would be kept in memory for as long as the system lives.
func TestTheNextEventForgetsSubscribersThatHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSystem("test")
		stop := func(*Context[int], int) Behavior[int] { return func(_ *Context[int], n *Next[int]) { n.Stop() } }
		b := func(_ *Context[int], n *Next[int]) { n.OnMessage = stop }
		gone, stays := Spawn(s, b, "gone"), Spawn(s, b, "stays")
		Subscribe(s, gone)
		Subscribe(s, stays)
		gone.Tell(1)
		synctest.Wait()
		s.Publish("nobody's")
		require.Len(t, s.events.subscriptions, 1)
		require.Same(t, stays.c, s.events.subscriptions[0].subscriber)
		require.NoError(t, s.Shutdown(t.Context()))
	})
}
