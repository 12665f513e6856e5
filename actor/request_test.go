package actor_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// An errand takes a while, and then its number is handled and answered.
type errand struct {
	N       int
	Takes   time.Duration
	ReplyTo actor.ActorRef[int]
}

func init() { actor.RegisterType[errand]("actor_test.errand") }

// A desk handles errands. It notes those that it has handled.
type desk struct {
	mu      sync.Mutex
	handled []int
}

func (d *desk) numbers() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]int{}, d.handled...)
}

func (d *desk) handle(j errand) {
	time.Sleep(j.Takes)
	d.mu.Lock()
	d.handled = append(d.handled, j.N)
	d.mu.Unlock()
	if j.ReplyTo != (actor.ActorRef[int]{}) {
		j.ReplyTo.Tell(j.N)
	}
}

func (d *desk) behavior() actor.Behavior[errand] {
	return behaviors.Receive(func(_ *actor.Context[errand], j errand) actor.Behavior[errand] {
		d.handle(j)
		return behaviors.Same
	})
}

func errands(n int, takes time.Duration) func(actor.ActorRef[int]) errand {
	return func(r actor.ActorRef[int]) errand { return errand{n, takes, r} }
}

// waits are the ways in which a request waits at an actor that is busy with something else.
var waits = map[string]func(s *actor.System, d *desk) actor.ActorRef[errand]{
	"mailbox": func(s *actor.System, d *desk) actor.ActorRef[errand] { return actor.Spawn(s, d.behavior(), "desk") },
	"bounded": func(s *actor.System, d *desk) actor.ActorRef[errand] {
		return actor.Spawn(s, d.behavior(), "desk", actor.Bounded(10))
	},
	"drop oldest": func(s *actor.System, d *desk) actor.ActorRef[errand] {
		return actor.Spawn(s, d.behavior(), "desk", actor.Bounded(10).DropOldest())
	},
	"prioritized": func(s *actor.System, d *desk) actor.ActorRef[errand] {
		return actor.Spawn(s, d.behavior(), "desk", actor.Prioritized(func(j errand) int { return -j.N }))
	},
	"stash": func(s *actor.System, d *desk) actor.ActorRef[errand] {
		return actor.Spawn(s, behaviors.WithStash(10, func(stash *actor.Stash[errand]) actor.Behavior[errand] {
			return behaviors.Setup(func(ctx *actor.Context[errand]) actor.Behavior[errand] {
				ctx.After("open", time.Minute, errand{N: -1})
				return behaviors.Receive(func(_ *actor.Context[errand], j errand) actor.Behavior[errand] {
					switch j.N {
					case -1:
						return stash.UnstashAll(d.behavior())
					case 0:
						return behaviors.Same
					}
					return stash.Stash(j)
				})
			})
		}), "desk")
	},
	"adapter": func(s *actor.System, d *desk) actor.ActorRef[errand] {
		adapted := make(chan actor.ActorRef[errand], 1)
		actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[func()]) actor.Behavior[func()] {
			adapted <- actor.Adapt(ctx, func(j errand) func() { return func() { d.handle(j) } })
			return behaviors.Receive(func(_ *actor.Context[func()], f func()) actor.Behavior[func()] {
				f()
				return behaviors.Same
			})
		}), "desk")
		return <-adapted
	},
	"stash of an inner behavior": func(s *actor.System, d *desk) actor.ActorRef[errand] {
		return actor.Spawn(s, behaviors.Transform(behaviors.WithStash(10, func(stash *actor.Stash[errand]) actor.Behavior[errand] {
			return behaviors.Receive(func(_ *actor.Context[errand], j errand) actor.Behavior[errand] {
				if j.N == 0 || j.N == 1 {
					return stash.Stash(j)
				}
				d.handle(j)
				return stash.UnstashAll(d.behavior())
			})
		}), func(j errand) (errand, bool) { return j, true }), "desk")
	},
	"inner behavior": func(s *actor.System, d *desk) actor.ActorRef[errand] {
		return actor.Spawn(s, behaviors.Transform(d.behavior(), func(j errand) (errand, bool) { return j, true }), "desk")
	},
}

// No request is handled after its ask has ended, wherever it waits, and its ask knows that.
func TestARequestIsNotHandledOnceItsAskHasEnded(t *testing.T) {
	for name, spawn := range waits {
		for how, askWith := range map[string]func(t *testing.T, to actor.ActorRef[errand], n int) error{
			"timeout": func(t *testing.T, to actor.ActorRef[errand], n int) error {
				_, err := actor.AskTimeout(t.Context(), to, time.Second, errands(n, 0))
				return err
			},
			"context": func(t *testing.T, to actor.ActorRef[errand], n int) error {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := actor.Ask(ctx, to, errands(n, 0))
				return err
			},
			"cancelled": func(t *testing.T, to actor.ActorRef[errand], n int) error {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				_, err := actor.Ask(ctx, to, errands(n, 0))
				return err
			},
		} {
			for _, opts := range [][]actor.Option{nil, {testkit.WithoutEncoding()}} {
				t.Run(name+"/"+how, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := testkit.NewSystem(t, opts...)
						var d desk
						dead := deadLetters(t, s)
						to := spawn(s, &d)
						to.Tell(errand{N: 0, Takes: time.Minute}) // keeps it busy
						synctest.Wait()
						err := askWith(t, to, 1)
						require.Error(t, err)
						require.ErrorIs(t, err, actor.ErrWithdrawn, "its ask knows")
						to.Tell(errand{N: 2})
						time.Sleep(2 * time.Minute)
						require.NotContains(t, d.numbers(), 1)
						require.Contains(t, d.numbers(), 2, "a tell is never dropped for this")
						require.ErrorIs(t, dead.Receive().Reason, actor.ErrWithdrawn)
					})
				})
			}
		}
	}
}

// A request that an actor has begun to handle may have had its effect.
func TestAnAskWhoseRequestWasBegunDoesNotSayThatItWasWithdrawn(t *testing.T) {
	for name, spawn := range waits {
		if strings.Contains(name, "stash") {
			continue // handles nothing else
		}
		inBubble(t, func(t *testing.T, s *actor.System) {
			var d desk
			to := spawn(s, &d)
			_, err := actor.AskTimeout(t.Context(), to, time.Second, errands(1, time.Minute))
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.NotErrorIs(t, err, actor.ErrWithdrawn, name)
			time.Sleep(time.Minute)
			require.Equal(t, []int{1}, d.numbers(), name)
		})
	}
}

func TestAnAskToSelfWithdrawsItsRequestAsWell(t *testing.T) {
	for _, box := range []actor.Mailbox{{}, actor.Bounded(1).Block(time.Hour)} {
		inBubble(t, func(t *testing.T, s *actor.System) {
			var d desk
			to := actor.Spawn(s, d.behavior(), "desk", box)
			to.Tell(errand{N: 0, Takes: time.Minute})
			synctest.Wait()
			to.Tell(errand{N: 2})
			failed := make(chan error, 1)
			actor.Spawn(s, obedient(), "asker").Tell(do(func(ctx *actor.Context[order]) {
				actor.AskToSelf(ctx, to, time.Second, errands(1, 0), func(_ int, err error) order {
					failed <- err
					return do(func(*actor.Context[order]) {})
				})
			}))
			require.ErrorIs(t, <-failed, actor.ErrWithdrawn)
			time.Sleep(2 * time.Minute)
			require.Equal(t, []int{0, 2}, d.numbers())
		})
	}
}

func TestARequestThatWaitsForAPlaceIsWithdrawn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var d desk
		to := actor.Spawn(s, d.behavior(), "desk", actor.Bounded(1).Block(time.Hour))
		to.Tell(errand{N: 0, Takes: time.Minute})
		synctest.Wait()
		to.Tell(errand{N: 2})
		_, err := actor.AskTimeout(t.Context(), to, time.Second, errands(1, 0))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, actor.ErrWithdrawn)
		time.Sleep(2 * time.Minute)
		require.Equal(t, []int{0, 2}, d.numbers())
	})
}

func TestAHandlerReadsTheDeadlineOfItsRequestAndPassesItOn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		left := make(chan time.Duration, 10)
		note := func(ctx *actor.Context[errand]) {
			at, ok := actor.Deadline(ctx)
			if !ok {
				left <- -1
				return
			}
			left <- time.Until(at).Round(time.Microsecond)
		}
		last := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[errand], j errand) actor.Behavior[errand] {
			note(ctx)
			j.ReplyTo.Tell(j.N)
			return behaviors.Same
		}), "last")
		first := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[errand], j errand) actor.Behavior[errand] {
			if j.N == 0 {
				return behaviors.Same // made of a reply
			}
			note(ctx)
			time.Sleep(time.Second)
			switch j.N {
			case 1:
				_, err := actor.Ask(ctx, last, errands(1, 0))
				require.NoError(t, err)
			case 2:
				_, err := actor.AskTimeout(ctx, last, time.Hour, errands(1, 0))
				require.NoError(t, err)
			case 3:
				actor.AskToSelf(ctx, last, 0, errands(1, 0), func(int, error) errand { return errand{} })
			}
			j.ReplyTo.Tell(j.N)
			return behaviors.Same
		}), "first")
		for n, want := range map[int]time.Duration{1: 9 * time.Second, 2: time.Hour, 3: 9 * time.Second} {
			_, err := actor.AskTimeout(t.Context(), first, 10*time.Second, errands(n, 0))
			require.NoError(t, err)
			require.Equal(t, 10*time.Second, <-left)
			require.Equal(t, want, <-left, n)
		}
		_, err := actor.Ask(t.Context(), first, errands(1, 0))
		require.NoError(t, err)
		require.EqualValues(t, -1, <-left)
		require.EqualValues(t, -1, <-left)
	})
}

func TestAnAskOfAHandlerWhoseRequestHasEndedSendsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var d desk
		last := actor.Spawn(s, d.behavior(), "last")
		failed := make(chan error, 1)
		first := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[errand], j errand) actor.Behavior[errand] {
			time.Sleep(time.Minute)
			_, err := actor.Ask(ctx, last, errands(1, 0))
			failed <- err
			return behaviors.Same
		}), "first")
		_, err := actor.AskTimeout(t.Context(), first, time.Second, errands(1, 0))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		err = <-failed
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "the request that is being handled has ended")
		require.Empty(t, d.numbers())
	})
}

// overload asks d at a rate for a while, each with a deadline, without waiting for answers.
type overload struct {
	answered, refused, late, other atomic.Int64
	slowest                        atomic.Int64
}

func (o *overload) load(t *testing.T, to actor.ActorRef[errand], every, lasts, takes, deadline time.Duration) {
	var all sync.WaitGroup
	for range lasts / every {
		time.Sleep(every)
		all.Go(func() {
			begun := time.Now()
			_, err := actor.AskTimeout(t.Context(), to, deadline, errands(1, takes))
			switch {
			case err == nil:
				o.answered.Add(1)
				o.slowest.Store(max(o.slowest.Load(), int64(time.Since(begun))))
			case errors.Is(err, actor.ErrOverloaded), errors.Is(err, actor.ErrWithdrawn):
				o.refused.Add(1)
			case errors.Is(err, context.DeadlineExceeded):
				o.late.Add(1)
			default:
				o.other.Add(1)
			}
		})
	}
	all.Wait()
}

func TestAnOverloadedActorAnswersAsManyInTimeAsItCan(t *testing.T) {
	for _, takes := range []time.Duration{5 * time.Millisecond, 100 * time.Millisecond, 600 * time.Millisecond} {
		for _, times := range []int{3, 10} {
			inBubble(t, func(t *testing.T, s *actor.System) {
				var d desk
				to := actor.Spawn(s, d.behavior(), "desk")
				var o overload
				lasts := max(4*time.Second, 30*takes)
				o.load(t, to, takes/time.Duration(times), lasts, takes, time.Second)
				capacity := float64(lasts / takes)
				require.Greater(t, float64(o.answered.Load()), 0.8*capacity, "%v, %d times: %+v", takes, times, &o)
				require.Zero(t, o.other.Load())
				require.Len(t, d.numbers(), int(o.answered.Load()+o.late.Load()), "what is refused is not handled")
				require.LessOrEqual(t, float64(o.late.Load()), 0.1*capacity)

				begun := time.Now()
				_, err := actor.AskTimeout(t.Context(), to, time.Second, errands(1, takes))
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(begun), takes)
			})
		}
	}
}

func TestABurstThatCanBeAnsweredInTimeIsNotRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var d desk
		to := actor.Spawn(s, d.behavior(), "desk")
		to.Tell(errand{Takes: 600 * time.Millisecond}) // as a failover keeps them waiting
		var o overload
		o.load(t, to, time.Millisecond, 100*time.Millisecond, time.Millisecond, time.Second)
		require.EqualValues(t, 100, o.answered.Load())
	})
}
