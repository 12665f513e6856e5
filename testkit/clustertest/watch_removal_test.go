//go:build !quick

package clustertest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// promptly is the longest time between the removal of a node and the end of watches and asks of its
// actors.
const promptly = 100 * time.Millisecond

// A waiter begins something that ends with an actor of another node, and returns a channel that
// is closed then.
type waiter func(t *testing.T, n *cluster.Node, target actor.ActorRef[watchQuestion]) (ended chan struct{})

// watches watches an actor until it has ended.
func watches(t *testing.T, n *cluster.Node, target actor.ActorRef[watchQuestion]) (ended chan struct{}) {
	t.Helper()
	ended = make(chan struct{})
	actor.Spawn(n, func(ctx *actor.Context[string], next *actor.Next[string]) {
		ctx.Watch(target)
		next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] { return nil }
		next.OnSignal = func(_ *actor.Context[string], sig actor.Signal) actor.Behavior[string] {
			if end, ok := sig.(actor.Terminated); ok && end.Ref.Path() == target.Path() {
				close(ended)
			}
			return nil
		}
	}, "")
	return ended
}

// asks asks an actor that never answers.
func asks(t *testing.T, _ *cluster.Node, target actor.ActorRef[watchQuestion]) (ended chan struct{}) {
	t.Helper()
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_, err := actor.Ask(t.Context(), target, questionFor)
		require.ErrorIs(t, err, actor.ErrUnreachable) //nolint:testifylint // the goroutine ends anyway
	}()
	return ended
}

// asksToItself is asks from within an actor.
func asksToItself(t *testing.T, n *cluster.Node, target actor.ActorRef[watchQuestion]) (ended chan struct{}) {
	t.Helper()
	ended = make(chan struct{})
	actor.Spawn(n, func(ctx *actor.Context[error], next *actor.Next[error]) {
		actor.AskToSelf(ctx, target, 0, questionFor, func(_ int, err error) error { return err })
		next.OnMessage = func(_ *actor.Context[error], err error) actor.Behavior[error] {
			require.ErrorIs(t, err, actor.ErrUnreachable)
			close(ended)
			return nil
		}
	}, "")
	return ended
}

func questionFor(to actor.ActorRef[int]) watchQuestion { return watchQuestion{to} }

// removalOf returns a channel that is closed when n has removed a member.
func removalOf(t *testing.T, n *cluster.Node, id remote.NodeID) (removed chan struct{}) {
	t.Helper()
	removed = make(chan struct{})
	go func() {
		for v := range n.Views(t.Context()) {
			if m, known := v.Member("n3"); !known || m.ID() != id || m.Status >= cluster.Down {
				close(removed)
				return
			}
		}
	}()
	return removed
}

// A watch that began up to a second before the end was once confirmed by no node, and ended ten
// seconds later; so did a watch that began after the removal.
func TestWhatWaitsForAnActorEndsWithTheRemovalOfItsNodeAndAtOnceAfterIt(t *testing.T) {
	waiters := map[string]waiter{"watch": watches, "ask": asks, "ask to self": asksToItself}
	ways := map[string]func(*clustertest.Cluster, string){
		"killed": (*clustertest.Cluster).Kill, "without power": (*clustertest.Cluster).Crash,
	}
	for kind, wait := range waiters {
		for way, end := range ways {
			for _, at := range []time.Duration{
				-3 * time.Second, -time.Second, -500 * time.Millisecond, -100 * time.Millisecond, 0,
				time.Second, 2900 * time.Millisecond, 3100 * time.Millisecond, 5 * time.Second, long(2 * time.Minute),
			} {
				t.Run(fmt.Sprintf("%s, %s, %v", kind, way, at), func(t *testing.T) {
					scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
						requireEndsWithRemoval(t, c, wait, end, at)
					})
				})
			}
		}
	}
}

func requireEndsWithRemoval(t *testing.T, c *clustertest.Cluster, wait waiter, end func(*clustertest.Cluster, string), at time.Duration) {
	t.Helper()
	n1, id := c.Node("n1"), c.Node("n3").View().Self.ID()
	target := actor.Resolve[watchQuestion](n1.System, mute(c.Node("n3"), "target").String())
	removed := removalOf(t, n1, id)
	time.Sleep(5 * time.Second)
	var ended chan struct{}
	if at < 0 {
		ended = wait(t, n1, target)
		time.Sleep(-at)
	}
	end(c, "n3")
	if at >= 0 {
		time.Sleep(at)
		ended = wait(t, n1, target)
	}
	begun := time.Now()
	<-removed
	select {
	case <-ended:
		require.WithinRange(t, time.Now(), begun, begun.Add(detection+stableAfter+2*time.Second))
	case <-time.After(promptly):
		begin := time.Now()
		<-ended
		require.Fail(t, "too late", "%v after the removal", promptly+time.Since(begin))
	}
}

// A ref to an actor of the next process can come from another node before this one has met that
// process.
func TestWhatWaitsForAnActorOfTheNextIncarnationOfARemovedNodeDoesNotEnd(t *testing.T) {
	for name, between := range map[string]time.Duration{"before the removal": 500 * time.Millisecond, "after the removal": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
				n1 := c.Node("n1")
				before := actor.Resolve[watchQuestion](n1.System, mute(c.Node("n3"), "before").String())
				c.Kill("n3")
				time.Sleep(between)
				next, up := startAgain(c, "n3")
				target := actor.Resolve[watchQuestion](n1.System, actor.Spawn(next, deaf, "target").String())
				_, met := n1.View().Member("n3")
				require.Equal(t, between < stableAfter, met, "what is known is the process before, or nobody")
				watch, byPath := watches(t, n1, target), watches(t, n1, actor.Resolve[watchQuestion](n1.System, target.Path()))
				ask := asked(t, target)
				<-up
				<-watches(t, n1, before) // an ended actor stays ended
				time.Sleep(long(5 * time.Minute))
				select {
				case err := <-ask:
					require.NoError(t, err, "the ask has ended")
				default:
				}
				requireOpen(t, watch)
				requireOpen(t, byPath)
				require.NoError(t, next.Shutdown(t.Context()))
				<-watch
				<-byPath
			})
		})
	}
}

// startAgain starts another process of a node, and returns its system, which is in no cluster yet,
// and a channel that is closed when it is.
func startAgain(c *clustertest.Cluster, name string) (next *actor.System, up chan struct{}) {
	systems, up := make(chan *actor.System, 1), make(chan struct{})
	go func() {
		defer close(up)
		c.Add(name, func(_ string, cfg *cluster.Config) {
			cfg.SystemOptions = append(cfg.SystemOptions, func(s *actor.System) { systems <- s })
		})
	}()
	next = <-systems
	synctest.Wait()
	return next, up
}

func deaf(_ *actor.Context[watchQuestion], next *actor.Next[watchQuestion]) {
	next.OnMessage = func(*actor.Context[watchQuestion], watchQuestion) actor.Behavior[watchQuestion] { return nil }
}

// asked asks, and returns where the error will be.
func asked(t *testing.T, target actor.ActorRef[watchQuestion]) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := actor.Ask(t.Context(), target, questionFor)
		ended <- err
	}()
	return ended
}

func requireOpen(t *testing.T, c chan struct{}) {
	t.Helper()
	select {
	case <-c:
		require.Fail(t, "it has ended")
	default:
	}
}
