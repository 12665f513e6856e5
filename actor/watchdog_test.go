package actor

import (
	"context"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain sees to it that nothing has written to what all cells share.
func TestMain(m *testing.M) {
	code := m.Run()
	if !untouched(&noExtras) {
		println("actor: the extras that all actors share were written to")
		code = 1
	}
	os.Exit(code)
}

func untouched(e *extras) bool {
	return e.supervision.layers == nil && e.supervision.base == -1 && e.supervision.restart == -1 && !e.supervision.awaiting && e.supervision.delay == 0 &&
		e.supervision.backoff == nil && e.timers.byKey == nil && e.timers.idle == nil && e.wrapping == nil &&
		e.asInner == nil && e.bypassing == nil && e.watched == nil && e.asks.first == nil && e.cleanups == nil &&
		e.bypass.Load() == nil && e.log == nil && e.priorities == nil && e.senders == nil
}

// frugally runs f in a bubble with a system that is scheduled as in real time.
func frugally(t *testing.T, f func(t *testing.T, s *System)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		s := NewSystem("test")
		require.True(t, s.scheduler.virtual)
		s.scheduler.virtual = false
		f(t, s)
		s.SetPhaseTimeout(ActorsStop, time.Minute)
		require.NoError(t, s.Shutdown(context.Background()))
		synctest.Wait()
		require.Zero(t, s.scheduler.busy)
		require.Zero(t, s.scheduler.waiting.size())
	})
}

// calling calls the functions that it receives.
func calling(_ *Context[func()], next *Next[func()]) {
	next.OnMessage = func(_ *Context[func()], f func()) Behavior[func()] {
		f()
		return nil
	}
}

func TestASystemKnowsWhetherItIsInABubble(t *testing.T) {
	require.False(t, timeIsVirtual())
	synctest.Test(t, func(t *testing.T) { require.True(t, timeIsVirtual()) })
}

func TestTheWatchReplacesRunnersThatBlock(t *testing.T) {
	for _, n := range []int{1, 2, 64} {
		frugally(t, func(t *testing.T, s *System) {
			for range n {
				Spawn(s, calling, "").Tell(func() { time.Sleep(30 * time.Second) })
			}
			start, answer := time.Now(), make(chan time.Time, 1)
			for range 10 {
				Spawn(s, calling, "").Tell(func() { answer <- time.Now() })
				require.LessOrEqual(t, (<-answer).Sub(start), time.Millisecond)
			}
		})
	}
}

func TestNobodyWaitsForTheRunnerThatHasTakenItWhereTurnsAreLong(t *testing.T) {
	for _, turn := range []time.Duration{watchdogInterval / 5, watchdogInterval / 2, watchdogInterval - time.Microsecond} {
		frugally(t, func(t *testing.T, s *System) {
			refs := make([]ActorRef[func()], 20*runtime.GOMAXPROCS(0))
			for i := range refs {
				refs[i] = Spawn(s, calling, "")
			}
			synctest.Wait()
			start, begun := time.Now(), make(chan time.Time, len(refs))
			for _, ref := range refs {
				ref.Tell(func() {
					begun <- time.Now()
					time.Sleep(turn)
				})
			}
			for range refs {
				require.LessOrEqual(t, (<-begun).Sub(start), 2*watchdogInterval, "turns of %v", turn)
			}
		})
	}
}

func TestTheWatchEndsWhenNobodyWaits(t *testing.T) {
	frugally(t, func(t *testing.T, s *System) {
		for range 100 {
			ref := Spawn(s, calling, "")
			ref.Tell(func() { time.Sleep(time.Millisecond) })
			ref.Tell(func() { ref.Tell(func() {}) })
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		require.False(t, s.scheduler.watchdogArmed)
		require.Empty(t, s.scheduler.runners.all)
		require.Zero(t, s.scheduler.busy)
		require.Zero(t, s.scheduler.spinning)
	})
}

func TestWhoSaysThatItWillBlockIsReplacedAtOnce(t *testing.T) {
	for name, block := range map[string]func(ctx *Context[func()]){
		"WillBlock": func(ctx *Context[func()]) {
			willBlock(ctx)
			time.Sleep(30 * time.Second)
		},
		"Ask": func(ctx *Context[func()]) {
			mute := Spawn(ctx, func(_ *Context[int], n *Next[int]) {
				n.OnMessage = func(*Context[int], int) Behavior[int] { return nil }
			}, "")
			short, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			_, err := Ask(short, mute, func(ActorRef[int]) int { return 1 })
			if err == nil {
				panic("a reply")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			frugally(t, func(t *testing.T, s *System) {
				for range 8 {
					ref := Spawn(s, func(ctx *Context[func()], next *Next[func()]) {
						next.OnMessage = func(*Context[func()], func()) Behavior[func()] {
							block(ctx)
							return nil
						}
					}, "")
					ref.Tell(nil)
				}
				start := time.Now()
				synctest.Wait()
				answer := make(chan struct{})
				Spawn(s, calling, "").Tell(func() { close(answer) })
				<-answer
				require.Zero(t, time.Since(start))
			})
		})
	}
}

func TestTheWatchDoesNotLookAtRunnersThatAreBlocked(t *testing.T) {
	frugally(t, func(t *testing.T, s *System) {
		var refs []ActorRef[func()]
		for range 100 {
			ref := Spawn(s, func(ctx *Context[func()], next *Next[func()]) {
				next.OnMessage = func(_ *Context[func()], f func()) Behavior[func()] {
					willBlock(ctx)
					f()
					return nil
				}
			}, "")
			ref.Tell(func() { time.Sleep(30 * time.Second) })
			refs = append(refs, ref)
		}
		synctest.Wait()
		s.scheduler.mu.Lock()
		require.Empty(t, s.scheduler.runners.all)
		s.scheduler.mu.Unlock()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		for _, ref := range refs {
			require.Nil(t, ref.c.impl.(*cell).runner.Load(), "an idle actor keeps no runner that was blocked")
		}
	})
}

func TestHandlersThatSleepAllSleepAtTheSameTime(t *testing.T) {
	frugally(t, func(t *testing.T, s *System) {
		const actors, messages = 1000, 50 // more actors than runners that may move
		start, ended := time.Now(), make(chan struct{}, actors*messages)
		for range actors {
			ref := Spawn(s, calling, "")
			for range messages {
				ref.Tell(func() {
					time.Sleep(time.Millisecond)
					ended <- struct{}{}
				})
			}
		}
		for range actors * messages {
			<-ended
		}
		require.Less(t, time.Since(start), messages*time.Millisecond*3/2)
	})
}
