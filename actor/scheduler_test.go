package actor_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// These tests run in real time, as the scheduler is another in a bubble. How long they
// may take is bounded by what no machine needs.
const forEver = time.Minute

// restless tells itself again and again.
func restless() actor.Behavior[int] {
	return behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
		ctx.Self().Tell(0)
		return behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
			ctx.Self().Tell(n + 1)
			return behaviors.Same
		})
	})
}

// endless plays with another for ever.
func endless() actor.Behavior[ball] {
	return behaviors.Receive(func(ctx *actor.Context[ball], msg ball) actor.Behavior[ball] {
		msg.back.Tell(ball{back: ctx.Self()})
		return behaviors.Same
	})
}

func TestBusyActorsStarveNobodyAndShutdownEndsThem(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	for range 2 * runtime.GOMAXPROCS(0) {
		actor.Spawn(s, restless(), "")
		actor.Spawn(s, endless(), "").Tell(ball{back: actor.Spawn(s, endless(), "")})
	}
	ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(1) }), "")
	for range 100 {
		answered(t, ref)
	}
}

// answered asks ref in real time.
func answered(t *testing.T, ref actor.ActorRef[question]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), forEver)
	defer cancel()
	_, err := actor.Ask(ctx, ref, ask)
	require.NoError(t, err)
}

func TestHandlersThatBlockHoldNobodyHostage(t *testing.T) {
	for _, n := range []int{1, 64} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := testkit.NewSystem(t, testkit.WithoutEncoding())
			release := make(chan struct{})
			var all sync.WaitGroup
			all.Add(n)
			for range n {
				actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
					all.Done()
					<-release
					return behaviors.Same
				}), "").Tell(0)
			}
			all.Wait() // each of them has got a goroutine
			ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(1) }), "")
			for range 10 {
				answered(t, ref)
			}
			close(release)
		})
	}
}

func TestAHandlerThatBlocksAmongBusyPairsHoldsNobodyHostage(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	for range 64 { // all runners are busy with short turns
		actor.Spawn(s, endless(), "").Tell(ball{back: actor.Spawn(s, endless(), "")})
	}
	ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(1) }), "")
	for range 20 {
		entered, release := make(chan struct{}), make(chan struct{})
		for range runtime.GOMAXPROCS(0) {
			actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
				entered <- struct{}{}
				<-release
				return behaviors.Stopped
			}), "").Tell(0)
			<-entered
		}
		answered(t, ref)
		close(release)
	}
}

func TestAnActorThatAsksInsideOfAHandlerHoldsNobodyHostage(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	next := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(1) }), "")
	for range 100 {
		asked := next
		next = actor.Spawn(s, answering(func(ctx *actor.Context[question], q question) {
			extension.WillBlock(ctx)
			n, err := actor.Ask(ctx, asked, ask)
			if err == nil {
				q.replyTo.Tell(n)
			}
		}), "")
	}
	answered(t, next)
}

func TestMessagesOfOneSenderStayInOrderAmongRunners(t *testing.T) {
	const senders, each = 8, 5000
	type from struct{ sender, number int }
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	done := make(chan error, 1)
	var next [senders]int
	left := senders * each
	sink := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[from], m from) actor.Behavior[from] {
		if m.number != next[m.sender] {
			done <- fmt.Errorf("sender %d: %d instead of %d", m.sender, m.number, next[m.sender])
			return behaviors.Stopped
		}
		next[m.sender]++
		if left--; left == 0 {
			done <- nil
		}
		return behaviors.Same
	}), "")
	for i := range senders {
		actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
			sink.Tell(from{i, n})
			if n+1 < each {
				ctx.Self().Tell(n + 1)
			}
			return behaviors.Same
		}), "").Tell(0)
	}
	require.NoError(t, <-done)
}

func TestHandlersThatPanicOrEndTheirGoroutineLoseNoOthers(t *testing.T) {
	const others = 100
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	for range 20 {
		for _, end := range []func(){func() { panic(errBoom) }, runtime.Goexit} {
			actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
				end()
				return behaviors.Same
			}), "").Tell(0)
		}
		var done sync.WaitGroup
		for range others {
			done.Add(1)
			actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
				done.Done()
				return behaviors.Stopped
			}), "").Tell(0)
		}
		done.Wait()
	}
}

func TestAnIdleSystemHasNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	for range 100 {
		answered(t, actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(1) }), ""))
	}
	for end := time.Now().Add(forEver); runtime.NumGoroutine() > before; {
		require.True(t, time.Now().Before(end), "%d goroutines, and %d before", runtime.NumGoroutine(), before)
		runtime.Gosched()
	}
}

// heap returns how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what was pooled goes with the second
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // no heap is that large
}

func TestTheMemoryOfAFloodIsGivenBack(t *testing.T) {
	const flood = 200_000
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	release, done := make(chan struct{}), make(chan struct{})
	left := flood
	ref := actor.Spawn(s, behaviors.Receive(func(*actor.Context[sample], sample) actor.Behavior[sample] {
		<-release
		if left--; left == 0 {
			close(done)
		}
		return behaviors.Same
	}), "")
	before := heap()
	for i := range flood {
		ref.Tell(sample{1, int64(i)})
	}
	flooded := heap() - before
	require.Greater(t, flooded, int64(16*flood*3/4))
	require.Less(t, flooded, int64(16*flood*3/2))
	close(release)
	<-done
	answered(t, actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(1) }), ""))
	require.Less(t, heap()-before, int64(16*flood/4))
	runtime.KeepAlive(ref)
}

func TestManyIdleActorsSlowNobodyDown(t *testing.T) {
	effort.Verify(t)
	median := func(idle int) time.Duration {
		s := actor.NewSystem("test")
		s.SetPhaseTimeout(actor.ActorsStop, 0) // as many take seconds, with the race detector
		defer func() { require.NoError(t, s.Shutdown(context.Background())) }()
		for range idle {
			actor.Spawn(s, behaviors.Ignore[int], "")
		}
		ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(1) }), "")
		answered(t, ref)
		var times []time.Duration
		for range 501 {
			start := time.Now()
			answered(t, ref)
			times = append(times, time.Since(start))
		}
		return quantile(times, 0.5)
	}
	empty, full := median(0), median(100_000)
	t.Logf("%v with none, %v with many", empty, full)
	require.Less(t, full, 10*empty+time.Millisecond)
}

func TestAChildIsFoundByItsNameAmongThousands(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		refs := map[string]actor.ActorRef[int]{}
		for n := range 2000 {
			ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[int], _ int) actor.Behavior[int] {
				return behaviors.Stopped
			}), []string{"", fmt.Sprint("child", n)}[n%2])
			refs[ref.Path()] = ref
		}
		for path, ref := range refs {
			require.Equal(t, ref, actor.Resolve[int](s, path))
			require.Equal(t, ref, actor.Resolve[int](s, ref.String()))
		}
		for path, ref := range refs {
			ref.Tell(0)
			settle()
			require.NotEqual(t, ref, actor.Resolve[int](s, path))
		}
		require.Panics(t, func() {
			for range 2 {
				actor.Spawn(s, behaviors.Ignore[int], "child1")
			}
		})
	})
}

// quantile returns the one at share q of times.
func quantile(times []time.Duration, q float64) time.Duration {
	slices.Sort(times)
	return times[int(q*float64(len(times)-1))]
}
