package actor_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// goroutinesOf returns how many goroutines a profile shows with a kind.
func goroutinesOf(t *testing.T, kind string) int {
	t.Helper()
	var profile bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&profile, 1))
	return strings.Count(profile.String(), `{"kind":"`+kind+`"}`)
}

func TestTheGoroutineOfAHandlerHasItsKindInProfiles(t *testing.T) {
	const kind, other = "profiled cart", "profiled till"
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		cart := actor.Spawn(s, obedient(), "", actor.WithKind(kind))
		till := actor.Spawn(s, obedient(), "", actor.WithKind(other))
		release := make(chan struct{})
		wait := do(func(*actor.Context[order]) { <-release })
		cart.Tell(do(func(*actor.Context[order]) {
			till.Tell(wait)
			<-release
		}))
		settle()
		require.Equal(t, 1, goroutinesOf(t, kind))
		require.Equal(t, 1, goroutinesOf(t, other), "a runner does not keep the label of what has started it")
		close(release)
		settle()
		require.Zero(t, goroutinesOf(t, kind))
		require.Zero(t, goroutinesOf(t, other))

		release = make(chan struct{})
		cart.Tell(do(func(*actor.Context[order]) { go func() { <-release }() }))
		settle()
		require.Equal(t, 1, goroutinesOf(t, kind), "what a handler starts inherits the label")
		close(release)
	}, actor.WithProfileLabels())
}

func TestOneGoroutineHasTheKindOfEachHandlerThatItRuns(t *testing.T) {
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		var got []string
		kinds := []string{"profiled a", "profiled b", "profiled a", "profiled c"}
		for _, kind := range kinds {
			actor.Spawn(s, obedient(), "", actor.WithKind(kind)).Tell(do(func(*actor.Context[order]) {
				for _, k := range kinds[:2:2] {
					if goroutinesOf(t, k) > 0 {
						got = append(got, k)
					}
				}
			}))
			settle()
		}
		require.Equal(t, []string{"profiled a", "profiled b", "profiled a"}, got)
	}, actor.WithProfileLabels())
}

func TestTheContextOfAHandlerHasTheLabelSoThatOthersCanBeAdded(t *testing.T) {
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		var within, after int
		actor.Spawn(s, obedient(), "", actor.WithKind("profiled parent")).Tell(do(func(ctx *actor.Context[order]) {
			actor.Spawn(ctx, obedient(), "", actor.WithKind("profiled child")).Tell(do(func(ctx *actor.Context[order]) {
				kind, _ := pprof.Label(ctx, "kind")
				require.Equal(t, "profiled child", kind)
				pprof.Do(ctx, pprof.Labels("step", "1"), func(context.Context) { within = goroutinesOf(t, `profiled child", "step":"1`) })
				after = goroutinesOf(t, "profiled child")
			}))
		}))
		settle()
		require.Equal(t, 1, within)
		require.Equal(t, 1, after)
	}, actor.WithProfileLabels())
}

func TestWithoutTheOptionThereAreNoLabels(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		labels := -1
		actor.Spawn(s, obedient(), "", actor.WithKind("profiled")).Tell(do(func(ctx *actor.Context[order]) {
			labels = goroutinesOf(t, "profiled")
			_, has := pprof.Label(ctx, "kind")
			require.False(t, has)
		}))
		settle()
		require.Zero(t, labels)
	})
}

// BenchmarkTwoKinds measures a message between two actors of different kinds that take turns, which
// is what labels cost most: the goroutine changes its label for each message.
func BenchmarkTwoKinds(b *testing.B) {
	for name, opts := range map[string][]actor.Option{"plain": nil, "labelled": {actor.WithProfileLabels()}} {
		b.Run(name, func(b *testing.B) {
			s := actor.NewSystem("kinds", opts...)
			b.Cleanup(func() { require.NoError(b, s.Shutdown(context.Background())) })
			done := make(chan struct{})
			var ping, pong actor.ActorRef[int]
			ping = actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[int], left int) actor.Behavior[int] {
				pong.Tell(left - 1)
				return behaviors.Same
			}), "ping", actor.WithKind("ping"))
			pong = actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[int], left int) actor.Behavior[int] {
				if left > 0 {
					ping.Tell(left - 1)
				} else {
					close(done)
				}
				return behaviors.Same
			}), "pong", actor.WithKind("pong"))
			b.ResetTimer()
			ping.Tell(b.N/2*2 + 1)
			<-done
		})
	}
}
