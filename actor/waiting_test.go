package actor_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
)

// A chore is done by the actor, which answers it only if it says so.
type chore struct {
	Do      func(ctx *actor.Context[chore], e chore)
	Answer  bool
	ReplyTo actor.ActorRef[int]
}

var errInTheWay = errors.New("something is in the way")

func runner() actor.Behavior[chore] {
	return behaviors.Receive(func(ctx *actor.Context[chore], e chore) actor.Behavior[chore] {
		if e.Do != nil {
			e.Do(ctx, e)
		}
		if e.Answer {
			e.ReplyTo.Tell(1)
		}
		return behaviors.Same
	})
}

func (e chore) ask(t *testing.T, to actor.ActorRef[chore], timeout time.Duration) error {
	t.Helper()
	_, err := actor.AskTimeout(t.Context(), to, timeout, func(replyTo actor.ActorRef[int]) chore {
		e.ReplyTo = replyTo
		return e
	})
	return err
}

var mailboxes = map[string][]actor.SpawnOption{
	"unbounded":   nil,
	"bounded":     {actor.Bounded(1000)},
	"blocking":    {actor.Bounded(3).Block(time.Hour)},
	"prioritized": {actor.Prioritized(func(chore) int { return 0 })},
}

// endsBy requires that an ask ends at its deadline, and whether it names what was in the way.
func endsBy(t *testing.T, err error, names bool) {
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, names, errors.Is(err, errInTheWay), "%v", err)
}

// Something is in the way for eight seconds. Some asks wait in the mailbox then, some in what was
// drawn from it, one in the hands of the actor, and some come later.
func TestAllAsksThatWaitLearnWhatIsInTheWayUntilItIsNot(t *testing.T) {
	for name, opts := range mailboxes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				ref := actor.Spawn(s, runner(), "", opts...)
				var all sync.WaitGroup
				asks := func(n int, e chore, timeout time.Duration, names bool) {
					for range n {
						all.Go(func() { endsBy(t, e.ask(t, ref, timeout), names) })
					}
					settle()
				}
				ref.Tell(chore{Do: func(*actor.Context[chore], chore) { time.Sleep(time.Second) }})
				settle()
				asks(1, chore{Do: func(ctx *actor.Context[chore], e chore) {
					held := extension.Describe[chore, any](ctx, e)
					extension.Holds(ctx, func(yield func(extension.Described[any]) bool) { yield(held) })
					extension.ExplainWaiting(ctx, errInTheWay, true)
					time.Sleep(8 * time.Second)
					extension.ExplainWaiting(ctx, nil, true)
				}}, 5*time.Second, true)
				asks(400, chore{}, 5*time.Second, true)
				time.Sleep(2 * time.Second)
				asks(100, chore{}, 5*time.Second, true)
				asks(100, chore{}, time.Minute, false) // nothing is in the way when they end
				all.Wait()
				require.NoError(t, chore{Answer: true}.ask(t, ref, time.Second))
			})
		})
	}
}

// Asks come from many goroutines while something is in the way, and is not, in turn. In the end
// nothing is, and no ask that nobody answers says so.
func TestNoAskIsLeftWithAnExplanationThatWasTakenBack(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, runner(), "")
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 20 {
					all.Go(func() { endsBy(t, chore{}.ask(t, ref, time.Minute), false) })
					ref.Tell(chore{Do: func(ctx *actor.Context[chore], _ chore) {
						extension.ExplainWaiting(ctx, errInTheWay, true)
						runtime.Gosched()
						extension.ExplainWaiting(ctx, nil, true)
					}})
				}
			})
		}
		all.Wait()
	})
}

// An actor that has failed waits for its restart, which also fails at first.
func TestAnAskOfAnActorThatWaitsForItsRestartNamesTheFailure(t *testing.T) {
	for name, opts := range mailboxes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				starts := 0
				b := behaviors.Setup(func(*actor.Context[chore]) actor.Behavior[chore] {
					if starts++; starts == 2 {
						panic(errInTheWay)
					}
					return runner()
				})
				ref := actor.Spawn(s, behaviors.Supervise(b, actor.Strategy{Backoff: actor.Backoff{Min: 10 * time.Second}}), "", opts...)
				ref.Tell(chore{Do: func(*actor.Context[chore], chore) {
					time.Sleep(time.Second)
					panic(errInTheWay)
				}})
				settle()
				var all sync.WaitGroup
				for begins, names := range map[time.Duration]bool{0: true, 5 * time.Second: true, 9 * time.Second: true, 14 * time.Second: true, 22 * time.Second: false} {
					all.Go(func() {
						time.Sleep(begins)
						endsBy(t, chore{}.ask(t, ref, 4*time.Second), names)
					})
				}
				all.Go(func() {
					time.Sleep(18 * time.Second)
					endsBy(t, chore{}.ask(t, ref, 20*time.Second), false) // it has been started meanwhile
				})
				all.Wait()
				require.NoError(t, chore{Answer: true}.ask(t, ref, time.Second))
				require.Equal(t, 3, starts)
			})
		})
	}
}
