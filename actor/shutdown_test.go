package actor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A diary is what happened, in order.
type diary struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (d *diary) write(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// task returns a task that takes some time, and writes its name then.
func (d *diary) task(name string, takes time.Duration) func(context.Context) error {
	return func(context.Context) error {
		time.Sleep(takes)
		d.write(name)
		return nil
	}
}

// endsItself is inBubble for a system whose shutdown may fail.
func endsItself(t *testing.T, f func(t *testing.T, s *actor.System)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		f(t, actor.NewSystem("test"))
	})
}

func TestPhasesOfTheShutdownRunInOrderAndTheirTasksAtTheSameTime(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		var d diary
		s.OnShutdown(actor.AfterActors, "last", d.task("last", 0))
		s.OnShutdown(actor.ActorsStop, "before actors", d.task("before actors", time.Second))
		s.OnShutdown(actor.ClusterLeave, "leave", d.task("leave", time.Second))
		s.OnShutdown(actor.ServiceRequestsDone, "slow", d.task("slow", 2*time.Second))
		s.OnShutdown(actor.ServiceRequestsDone, "quick", d.task("quick", time.Second))
		s.OnShutdown(actor.ServiceUnbind, "unbind", d.task("unbind", time.Second))
		actor.Spawn(s, actor.Behavior[int](behaviors.Ignore[int]).OnSignal(func(*actor.Context[int], actor.Signal) actor.Behavior[int] {
			d.write("actor")
			return behaviors.Same
		}), "")
		settle()
		begin := time.Now()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Equal(t, []string{"unbind", "quick", "slow", "leave", "before actors", "actor", "last"}, d.lines)
		require.Equal(t, 5*time.Second, time.Since(begin))
		require.NoError(t, s.Shutdown(t.Context()))
		require.Len(t, d.lines, 7, "it runs once")
	})
}

func TestATaskThatOverrunsOrFailsKeepsNoOtherFromRunning(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		var d diary
		broken := errors.New("broken")
		release := make(chan struct{})
		s.SetPhaseTimeout(actor.ServiceRequestsDone, 3*time.Second)
		s.OnShutdown(actor.ServiceRequestsDone, "deaf", func(context.Context) error { <-release; return nil })
		s.OnShutdown(actor.ServiceUnbind, "fails", func(context.Context) error { return broken })
		s.OnShutdown(actor.ServiceUnbind, "panics", func(context.Context) error { panic("oh") })
		s.OnShutdown(actor.ServiceUnbind, "goes", func(context.Context) error { runtime.Goexit(); return nil })
		s.OnShutdown(actor.ServiceUnbind, "works", d.task("works", time.Second))
		s.OnShutdown(actor.AfterActors, "ends", d.task("ends", 0))
		results := make(chan error, 3)
		for range cap(results) {
			go func() { results <- s.Shutdown(context.Background()) }()
		}
		err := <-results
		for range cap(results) - 1 {
			require.Equal(t, err, <-results, "all calls return the same")
		}
		require.ErrorIs(t, err, broken)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		for _, part := range []string{
			"actor: shutdown of system test: phase service-unbind: task fails: broken",
			"phase service-unbind: task panics: panic: oh",
			"phase service-unbind: task goes: ",
			"phase service-requests-done: task deaf: not done after 3s: context deadline exceeded",
		} {
			require.ErrorContains(t, err, part)
		}
		require.Equal(t, []string{"works", "ends"}, d.lines)
		<-s.Terminated()
		close(release)
	})
}

func TestTheLimitOfAShutdownIsReachedByTasksAndActorsThatDoNotEnd(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		require.Equal(t, 100*time.Second, s.ShutdownLimit())
		release := make(chan struct{})
		for p := actor.ServiceUnbind; p <= actor.AfterActors; p++ {
			s.SetPhaseTimeout(p, time.Duration(p+1)*time.Second)
			s.OnShutdown(p, "deaf", func(context.Context) error { <-release; return nil })
		}
		actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
			<-release
			return behaviors.Same
		}), "deaf").Tell(1)
		begin := time.Now()
		require.Error(t, s.Shutdown(context.Background()))
		require.Equal(t, s.ShutdownLimit(), time.Since(begin))
		close(release)

		s.SetPhaseTimeout(actor.ActorsStop, 0)
		require.Zero(t, s.ShutdownLimit())
	})
}

func TestActorsThatDoNotStopInTimeAreNamedAndTheShutdownGoesOn(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		var d diary
		release := make(chan struct{})
		actor.Spawn(s, obedient(), "stuck").Tell(do(func(*actor.Context[order]) { <-release }))
		settle()
		s.SetPhaseTimeout(actor.ActorsStop, 2*time.Second)
		s.OnShutdown(actor.AfterActors, "ends", d.task("ends", 0))
		require.EqualError(t, s.Shutdown(t.Context()),
			"actor: shutdown of system test: phase actors-stop: still running: /user/stuck: not done after 2s: context deadline exceeded")
		require.Equal(t, []string{"ends"}, d.lines)
		select {
		case <-s.Terminated():
			t.Fatal("an actor runs")
		default:
		}
		close(release)
		<-s.Terminated()
	})
}

func TestWithoutPatienceTasksAreNotWaitedFor(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		impatience := errors.New("no time")
		s.OnShutdown(actor.ServiceRequestsDone, "requests", func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(impatience)
		err := s.Shutdown(ctx)
		require.ErrorIs(t, err, impatience)
		require.ErrorContains(t, err, "task requests")
		require.NoError(t, s.Shutdown(t.Context()), "that was the fault of another")
		<-s.Terminated()
	})
}

func TestATaskMayCallShutdown(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		for p := actor.ServiceUnbind; p <= actor.AfterActors; p++ {
			s.OnShutdown(p, "again", s.Shutdown)
		}
		begin := time.Now()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Zero(t, time.Since(begin))
	})
}

func TestAShutdownInsideOfAnActorGoesOnWithoutIt(t *testing.T) {
	for name, call := range map[string]func(ctx *actor.Context[order], shutdown func(context.Context)){
		"in a handler": func(ctx *actor.Context[order], shutdown func(context.Context)) { shutdown(ctx) },
		"in a piped function": func(ctx *actor.Context[order], shutdown func(context.Context)) {
			actor.PipeToSelf(ctx, func(ctx context.Context) (int, error) { shutdown(ctx); return 0, nil },
				func(int, error) order { return nil })
		},
		"at its end": func(ctx *actor.Context[order], shutdown func(context.Context)) {
			ctx.Defer(func() { shutdown(ctx) })
			ctx.Self().Tell(stop)
		},
	} {
		t.Run(name, func(t *testing.T) {
			endsItself(t, func(t *testing.T, s *actor.System) {
				idle := actor.NewSystem("other")
				result := make(chan error, 1)
				actor.Spawn(s, obedient(), "it").Tell(do(func(ctx *actor.Context[order]) {
					call(ctx, func(ctx context.Context) { result <- s.Shutdown(ctx) })
				}))
				begin := time.Now()
				<-s.Terminated()
				require.ErrorIs(t, <-result, actor.ErrShutdownGoesOn)
				require.NoError(t, s.Shutdown(t.Context()))
				require.Zero(t, time.Since(begin))
				require.NoError(t, idle.Shutdown(t.Context()))
			})
		})
	}
}

func TestAnActorMayWaitForTheShutdownOfAnotherSystem(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		other := actor.NewSystem("other")
		actor.Spawn(other, obedient(), "busy").Tell(do(func(*actor.Context[order]) { time.Sleep(time.Second) }))
		result := make(chan error, 1)
		actor.Spawn(s, obedient(), "it").Tell(do(func(ctx *actor.Context[order]) { result <- other.Shutdown(ctx) }))
		require.NoError(t, <-result)
		<-other.Terminated()
		require.NoError(t, s.Shutdown(t.Context()))
	})
}

func TestOfManyActorsThatDoNotStopTwentyAreNamed(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		release := make(chan struct{})
		for n := range 30 {
			actor.Spawn(s, obedient(), fmt.Sprint(n)).Tell(do(func(*actor.Context[order]) { <-release }))
		}
		settle()
		begin := time.Now()
		err := s.Shutdown(t.Context())
		require.Equal(t, 10*time.Second, time.Since(begin))
		require.ErrorContains(t, err, "phase actors-stop: still running: /user/0, /user/1, ")
		require.ErrorContains(t, err, "/user/19 and 10 more: not done after 10s")
		close(release)
		<-s.Terminated()
	})
}

func TestATaskThatReturnsAtTheLastMomentIsNotOverrun(t *testing.T) {
	for range 50 {
		endsItself(t, func(t *testing.T, s *actor.System) {
			for n := range 10 {
				s.OnShutdown(actor.ServiceUnbind, fmt.Sprint(n), func(ctx context.Context) error {
					time.Sleep(5*time.Second - 1)
					return nil
				})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second-1)
			defer cancel()
			_ = s.Shutdown(ctx)
			require.NoError(t, s.Shutdown(t.Context()))
		})
	}
}

func TestATaskThatWasTakenBackOrComesLateDoesNotRun(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		var d diary
		s.OnShutdown(actor.ServiceUnbind, "first", func(context.Context) error {
			s.OnShutdown(actor.ServiceUnbind, "late", d.task("late", 0))
			s.OnShutdown(actor.AfterActors, "in time", d.task("in time", 0))
			return nil
		})
		cancel := s.OnShutdown(actor.ServiceUnbind, "cancelled", d.task("cancelled", 0))
		cancel()
		cancel()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Equal(t, []string{"in time"}, d.lines)
		cancel()
	})
}

func TestATaskOfTheShutdownNeedsAPhaseANameAndAFunction(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		require.Panics(t, func() { s.OnShutdown(actor.AfterActors+1, "x", s.Shutdown) })
		require.Panics(t, func() { s.SetPhaseTimeout(-1, 0) })
		require.Panics(t, func() { s.OnShutdown(actor.AfterActors, "", s.Shutdown) })
		require.Panics(t, func() { s.OnShutdown(actor.AfterActors, "x", nil) })
		require.Equal(t, "phase(-1)", actor.Phase(-1).String())
	})
}

func TestWhoWaitsForASignalEndsWithItsContextOrTheSystem(t *testing.T) {
	for _, end := range []func(s *actor.System, cancel context.CancelFunc){
		func(_ *actor.System, cancel context.CancelFunc) { cancel() },
		func(s *actor.System, _ context.CancelFunc) { _ = s.Shutdown(context.Background()) },
	} {
		s := actor.NewSystem("server")
		broken := errors.New("broken")
		s.OnShutdown(actor.ServiceUnbind, "x", func(context.Context) error { return broken })
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- s.ShutdownOnSignal(ctx) }()
		end(s, cancel)
		require.ErrorIs(t, <-result, broken)
		<-s.Terminated()
		cancel()
	}
}

func ExampleSystem_OnShutdown() {
	system := actor.NewSystem("shop")
	system.OnShutdown(actor.AfterActors, "database", func(context.Context) error {
		fmt.Println("database closed")
		return nil
	})
	system.OnShutdown(actor.ServiceUnbind, "http", func(context.Context) error { // for instance the Shutdown of an http.Server
		fmt.Println("no more requests")
		return nil
	})
	actor.Spawn(system, actor.Behavior[string](behaviors.Ignore[string]).OnSignal(func(*actor.Context[string], actor.Signal) actor.Behavior[string] {
		fmt.Println("cart stopped")
		return behaviors.Same
	}), "cart")
	if err := system.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// no more requests
	// cart stopped
	// database closed
}

// The main function of a server ends like this.
func ExampleSystem_ShutdownOnSignal() {
	system := actor.NewSystem("server")
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // here, nobody presses Ctrl-C
	if err := system.ShutdownOnSignal(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println("bye")
	// Output: bye
}
