package actor

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// atRest returns an actor that calls what it receives, and has nothing to do.
func atRest(s *System) ActorRef[func()] {
	to := Spawn(s, Behavior[func()](calling), "")
	synctest.Wait() // its runner has ended
	return to
}

// lend delivers f as a goroutine that reads does.
func lend(s *System, to ActorRef[func()], f, goOn func()) (replaced bool) {
	return internals{s}.Lend(func() { to.Tell(f) }, goOn)
}

func unexpected(t *testing.T) func() { return func() { t.Error("another goroutine goes on") } }

func TestTheGoroutineThatReadsRunsTheActorThatItWakes(t *testing.T) {
	frugally(t, func(t *testing.T, s *System) {
		var by uint64
		require.False(t, lend(s, atRest(s), func() { by = goroutine() }, unexpected(t)))
		require.Equal(t, goroutine(), by, "at once, and without another goroutine")
	})
}

func TestAGoroutineThatReadsIsReplacedWhenItsHandlerBlocks(t *testing.T) {
	for name, block := range map[string]func(t *testing.T, s *System, release chan struct{}){
		"silently": func(_ *testing.T, _ *System, release chan struct{}) { <-release },
		"announced": func(t *testing.T, s *System, release chan struct{}) {
			answers := Spawn(s, Behavior[func()](calling), "")
			_, err := Ask(context.Background(), answers, func(to ActorRef[int]) func() {
				return func() { <-release; to.Tell(1) }
			})
			if err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			frugally(t, func(t *testing.T, s *System) {
				to, release, begun := atRest(s), make(chan struct{}), time.Now()
				goneOn, done := make(chan struct{}), make(chan bool)
				go func() { done <- lend(s, to, func() { block(t, s, release) }, func() { close(goneOn) }) }()
				<-goneOn
				require.LessOrEqual(t, time.Since(begun), 2*lentInterval)
				close(release)
				require.True(t, <-done)
			})
		})
	}
}

func TestAGoroutineThatReadsIsReplacedWhenItsHandlerEndsIt(t *testing.T) {
	frugally(t, func(t *testing.T, s *System) {
		to, goneOn := atRest(s), make(chan struct{})
		go func() {
			lend(s, to, runtime.Goexit, func() { close(goneOn) })
			t.Error("the goroutine has not ended")
		}()
		<-goneOn
	})
}

func TestWhatALentTurnLeavesIsForOtherGoroutines(t *testing.T) {
	frugally(t, func(t *testing.T, s *System) {
		of, other := make(chan uint64, 2), atRest(s)
		require.False(t, lend(s, atRest(s), func() {
			of <- goroutine()
			other.Tell(func() { of <- goroutine() })
		}, unexpected(t)))
		require.Equal(t, goroutine(), <-of)
		require.NotEqual(t, goroutine(), <-of)
	})
}

func TestLongTurnsAreNotLentForAWhile(t *testing.T) {
	frugally(t, func(t *testing.T, s *System) {
		lent := func(d time.Duration) bool {
			by, to := make(chan uint64, 1), atRest(s)
			lend(s, to, func() { by <- goroutine(); time.Sleep(d) }, unexpected(t))
			return <-by == goroutine()
		}
		pause := minLentPause
		for range 3 {
			require.True(t, lent(longLent+1))
			require.False(t, lent(0))
			time.Sleep(pause)
			pause *= 2
		}
		require.True(t, lent(0))
		require.True(t, lent(0), "after a short one at once")
		require.Equal(t, minLentPause, s.scheduler.lending.pause)
	})
}

func TestADeliveryThatTakesLongKeepsNobodyWaiting(t *testing.T) {
	frugally(t, func(t *testing.T, s *System) {
		to, other, done, begun := atRest(s), atRest(s), make(chan bool), time.Now()
		delivering, release := make(chan struct{}), make(chan struct{})
		go func() {
			done <- internals{s}.Lend(func() {
				close(delivering)
				<-release
				to.Tell(func() {})
			}, unexpected(t))
		}()
		<-delivering
		handled := make(chan struct{})
		other.Tell(func() { close(handled) })
		<-handled
		require.LessOrEqual(t, time.Since(begun), 2*lentInterval)
		close(release)
		require.False(t, <-done)
	})
}
