//go:build !quick

package clustertest_test

import (
	"slices"
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

// The host crashes in the middle of the test, together with its received messages.
func TestWithAtLeastOnceACrashOfTheHostLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		var mu sync.Mutex // guards handled
		handled := map[string][]int{}
		refs := map[string]actor.ActorRef[Entry]{}
		for _, n := range c.Nodes() {
			factory := func() actor.Behavior[Entry] {
				return behaviors.Receive(func(_ *actor.Context[Entry], e Entry) actor.Behavior[Entry] {
					time.Sleep(time.Millisecond)
					mu.Lock()
					defer mu.Unlock()
					sender := []string{"n2", "n3"}[e.N%2]
					handled[sender] = append(handled[sender], e.N/2)
					return behaviors.Same
				})
			}
			refs[n.View().Self.Name] = actor.Spawn(n, behaviors.Singleton(factory, singleton.AtLeastOnce(20)), "counter")
		}
		c.AwaitQuiet()
		for i, sender := range []string{"n2", "n3"} {
			go func() {
				for n := range 300 {
					refs[sender].Tell(Entry{N: 2*n + i})
					time.Sleep(time.Millisecond)
				}
			}()
		}
		time.Sleep(100 * time.Millisecond)
		c.Crash("n1")
		time.Sleep(long(5 * time.Minute))
		mu.Lock()
		defer mu.Unlock()
		for _, sender := range []string{"n2", "n3"} {
			highest := -1
			for _, n := range handled[sender] {
				require.LessOrEqual(t, n, highest+1, "%s: nothing is left out", sender)
				highest = max(highest, n)
			}
			require.Equal(t, 299, highest)
			require.Zero(t, c.Node(sender).DeadLetters())
			status, ok := singleton.StatusOf(c.Node(sender).System, "counter")
			require.True(t, ok)
			require.Zero(t, status.Unacknowledged)
			require.Less(t, len(handled[sender])-len(slices.Compact(slices.Sorted(slices.Values(handled[sender])))), 21, "no more than the window")
		}
	})
}
