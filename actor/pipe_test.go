package actor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// pipe is an order to pipe f to the actor itself, which then tells the outcome.
func pipe(p *testkit.Probe[string], f func(context.Context) (int, error)) order {
	return do(func(ctx *actor.Context[order]) {
		actor.PipeToSelf(ctx, f, func(n int, err error) order { return say(p, fmt.Sprint(n, " ", err)) })
	})
}

func TestMessagesAreHandledWhileAPipedFunctionRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "piping")
		ref.Tell(pipe(p, func(context.Context) (int, error) {
			time.Sleep(time.Second)
			return 42, nil
		}))
		ref.Tell(say(p, "meanwhile"))
		p.Expect("meanwhile")
		p.ExpectNone(time.Second - 1)
		p.Expect("42 <nil>")
	})
}

func TestWhateverHappensInAPipedFunctionArrivesAsAMessage(t *testing.T) {
	for name, test := range map[string]struct {
		f    func(context.Context) (int, error)
		want string
	}{
		"an error": {func(context.Context) (int, error) { return 7, errBoom }, "7 boom"},
		"a panic":  {func(context.Context) (int, error) { panic("oh") }, "0 panic: oh"},
		"the end of the goroutine": {func(context.Context) (int, error) {
			runtime.Goexit()
			return 7, nil
		}, "0 runtime.Goexit was called"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, obedient(), "piping")
				ref.Tell(pipe(p, test.f))
				p.Expect(test.want)
				p.ExpectNone(time.Hour)
			})
		})
	}
}

func TestWhatFailsAfterAPipedFunctionIsSupervised(t *testing.T) {
	for name, wrap := range map[string]func(*actor.Context[order], int, error) order{
		"a panic in wrap": func(*actor.Context[order], int, error) order { panic(errOther) },
		"failing with the error of a function that ended its goroutine": func(_ *actor.Context[order], _ int, err error) order {
			return fail(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, behaviors.Supervise(life(p), actor.Strategy{}), "piping")
				ref.Tell(do(func(ctx *actor.Context[order]) {
					actor.PipeToSelf(ctx, func(context.Context) (int, error) {
						runtime.Goexit()
						return 0, nil
					}, func(n int, err error) order { return wrap(ctx, n, err) })
				}))
				for _, want := range []string{"start", "it PreRestart", "start"} {
					p.Expect(want)
				}
			})
		})
	}
}

func TestThePipedFunctionHasTheContextOfItsActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		type key struct{}
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, obedient(), "piping", extension.WithContext(context.WithValue(t.Context(), key{}, "value")))
		ref.Tell(pipe(p, func(ctx context.Context) (int, error) {
			p.Ref().Tell(fmt.Sprint(ctx.Value(key{})))
			<-ctx.Done()
			p.Ref().Tell(ctx.Err().Error())
			return 42, nil
		}))
		p.Expect("value")
		ref.Tell(stop)
		p.Expect("context canceled")
		dead.Expect(actor.DeadLetter{Recipient: ref.String(), Message: 42, Reason: actor.ErrTerminated})
		p.ExpectNone(time.Hour)
	})
}

func TestAnErrorThatComesWhenTheActorHasEndedIsNobodysConcern(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, obedient(), "piping")
		ref.Tell(pipe(p, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}))
		ref.Tell(stop)
		p.ExpectNone(time.Hour)
		dead.ExpectNone(time.Hour)
	})
}

func TestAPipedResultComesToTheNextIncarnationToo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{}), "piping")
		ref.Tell(pipe(p, func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			return 42, ctx.Err()
		}))
		ref.Tell(fail(errBoom))
		p.Expect("42 <nil>")
	})
}

func TestShutdownWaitsForPipedFunctions(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		release := make(chan struct{})
		actor.Spawn(s, obedient(), "piping").Tell(pipe(p, func(context.Context) (int, error) {
			<-release
			return 0, nil
		}))
		settle()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("too slow"))
		defer cancel()
		err := s.Shutdown(ctx)
		require.EqualError(t, err, "actor: shutdown of system test: phase actors-stop: still running: functions given to PipeToSelf: too slow")
		close(release)
		require.NoError(t, s.Shutdown(t.Context()))
	})
}

func TestPipingAnAskFromInsideAnActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		count := actor.Spawn(s, counter(3), "counter")
		actor.Spawn(s, obedient(), "asker").Tell(pipe(p, func(ctx context.Context) (int, error) {
			return actor.Ask(ctx, count, func(r actor.ActorRef[int]) counting { return read{r} })
		}))
		p.Expect("3 <nil>")
	})
}
