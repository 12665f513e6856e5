package actor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/testkit"
)

func numbersOf(s *actor.System) actorhook.Counted {
	return actorhook.Internals(s).(actorhook.Counted) // actor implements it
}

// A deed is what a doer does: it is the body of the handler.
type deed func(ctx *actor.Context[deed])

func doer() actor.Behavior[deed] {
	return behaviors.Receive(func(ctx *actor.Context[deed], do deed) actor.Behavior[deed] {
		do(ctx)
		return nil
	})
}

func TestWaitingMessagesAreCountedWhereverTheyWait(t *testing.T) {
	for name, box := range map[string]actor.SpawnOption{
		"unbounded": actor.WithKind("till"), "bounded": actor.Bounded(1000),
		"prioritized": actor.Prioritized(func(msg int) int { return -msg }),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testkit.NewSystem(t, testkit.WithoutEncoding())
				slow := behaviors.Receive(func(_ *actor.Context[int], _ int) actor.Behavior[int] {
					time.Sleep(time.Second)
					return nil
				})
				actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
					for range 2 {
						child := actor.Spawn(ctx, slow, "", actor.WithKind("till"), box)
						for n := range 11 {
							child.Tell(n)
						}
					}
					return behaviors.Ignore
				}), "")
				synctest.Wait()
				waiting := numbersOf(s).Backlogs().Kinds["till"].Waiting
				require.InDelta(t, 20, waiting, 2, "the turn may hold the one that it handles")
				time.Sleep(4 * time.Second)
				synctest.Wait()
				require.LessOrEqual(t, numbersOf(s).Backlogs().Kinds["till"].Waiting, waiting, "those of a batch are counted again when it is over")
				time.Sleep(8 * time.Second)
				synctest.Wait()
				require.Empty(t, numbersOf(s).Backlogs().Kinds)
			})
		})
	}
}

func TestStashedMessagesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		ref := actor.Spawn(s, behaviors.WithStash(100, func(stash *actor.Stash[string]) actor.Behavior[string] {
			return behaviors.Receive(func(_ *actor.Context[string], msg string) actor.Behavior[string] {
				switch msg {
				case "open":
					return stash.UnstashAll(behaviors.Ignore[string])
				case "end":
					return behaviors.Stopped
				}
				return stash.Stash(msg)
			})
		}), "", actor.WithKind("till"))
		stashed := func() int64 {
			synctest.Wait()
			for _, k := range numbersOf(s).Kinds() {
				if k.Name == "till" {
					return k.Stashed
				}
			}
			return -1
		}
		for n := range 7 {
			ref.Tell(fmt.Sprint(n))
		}
		require.EqualValues(t, 7, stashed())
		ref.Tell("open")
		require.EqualValues(t, 0, stashed())
	})
}

func TestAHandlerThatTakesLongIsListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		ref := actor.Spawn(s, doer(), "slow", actor.WithKind("till"))
		sleep := func(*actor.Context[deed]) { time.Sleep(10 * time.Second) }
		ref.Tell(sleep)
		ref.Tell(sleep)
		synctest.Wait()
		require.Zero(t, numbersOf(s).Activity().Slow, "nobody has looked before")
		time.Sleep(4 * time.Second)
		seen := numbersOf(s).Activity()
		require.Equal(t, []actorhook.Handler{{Path: "/user/slow", Kind: "till", Message: "actor_test.deed", For: 4 * time.Second}}, seen.Handlers)
		require.Equal(t, 1, seen.Slow)
		require.Equal(t, 4*time.Second, seen.Slowest)
		time.Sleep(7 * time.Second)
		synctest.Wait()
		require.Zero(t, numbersOf(s).Activity().Slowest, "it is the next message")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Zero(t, numbersOf(s).Activity(), "nothing is left, not even a goroutine")
	})
}

func TestTheSlowestOfManyBlockedHandlersAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		never := actor.Spawn(s, behaviors.Ignore[actor.ActorRef[int]], "never")
		wait := func(ctx *actor.Context[deed]) {
			_, _ = actor.AskTimeout(ctx, never, time.Minute, func(to actor.ActorRef[int]) actor.ActorRef[int] { return to })
		}
		for n := range 3000 {
			actor.Spawn(s, doer(), fmt.Sprint(n)).Tell(wait)
			if n < 50 {
				synctest.Wait()
				time.Sleep(time.Millisecond)
			}
		}
		synctest.Wait()
		seen := numbersOf(s).Activity()
		require.Equal(t, 3000, seen.Blocked)
		require.Zero(t, seen.Slow)
		time.Sleep(30 * time.Second)
		seen = numbersOf(s).Activity()
		require.Equal(t, 3000, seen.Blocked)
		require.Equal(t, 3000, seen.Slow)
		require.Len(t, seen.Handlers, 20)
		require.Equal(t, actorhook.Handler{Path: "/user/0", Kind: "actor_test.deed", Message: "actor_test.deed", For: 30*time.Second + 50*time.Millisecond, Blocked: true}, seen.Handlers[0])
		require.Equal(t, "/user/19", seen.Handlers[19].Path)
		waits := numbersOf(s).Waits()
		require.Equal(t, 3000, waits.Count)
		require.Len(t, waits.Oldest, 20)
		require.Equal(t, actorhook.Wait{Asker: "/user/0", Asked: "/user/never", For: 30*time.Second + 50*time.Millisecond}, waits.Oldest[0])
		require.Empty(t, waits.Circles)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		require.Zero(t, numbersOf(s).Activity())
		require.Zero(t, numbersOf(s).Waits())
		require.Equal(t, uint64(3000), endsOfAsks(s)["unanswered"])
	})
}

func TestActorsThatWaitForEachOtherAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		a, b, c := actor.Spawn(s, doer(), "a"), actor.Spawn(s, doer(), "b"), actor.Spawn(s, doer(), "c")
		begin := make(chan struct{}) // when all are in their handlers, so that none of them replies
		ask := func(to actor.ActorRef[deed]) deed {
			return func(ctx *actor.Context[deed]) {
				<-begin
				within, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				_, _ = actor.Ask(within, to, func(replyTo actor.ActorRef[int]) deed {
					return func(*actor.Context[deed]) { replyTo.Tell(1) }
				})
			}
		}
		a.Tell(ask(b))
		b.Tell(ask(c))
		c.Tell(ask(a))
		actor.Spawn(s, doer(), "d").Tell(ask(a))
		synctest.Wait()
		close(begin)
		synctest.Wait()
		require.Empty(t, numbersOf(s).Waits().Circles, "they may get their replies in a moment")
		time.Sleep(time.Second)
		synctest.Wait()
		w := numbersOf(s).Waits()
		require.Equal(t, 4, w.Count)
		require.Len(t, w.Circles, 1)
		require.Subset(t, []string{"/user/a/user/b/user/c", "/user/b/user/c/user/a", "/user/c/user/a/user/b"}, []string{w.Circles[0][0] + w.Circles[0][1] + w.Circles[0][2]})
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Zero(t, numbersOf(s).Waits())
	})
}

func endsOfAsks(s *actor.System) map[string]uint64 {
	all := map[string]uint64{}
	for _, each := range numbersOf(s).AskOutcomes() {
		if each.Count > 0 {
			all[each.Outcome] = each.Count
		}
	}
	return all
}

func TestAsksAreCountedByTheirOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		reply := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[actor.ActorRef[int]], to actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
			to.Tell(1)
			return nil
		}), "")
		mute := actor.Spawn(s, behaviors.Ignore[actor.ActorRef[int]], "")
		ended := actor.Spawn(s, behaviors.Stopped[actor.ActorRef[int]], "")
		full := actor.Spawn(s, behaviors.Setup(func(*actor.Context[actor.ActorRef[int]]) actor.Behavior[actor.ActorRef[int]] {
			time.Sleep(5 * time.Second)
			return behaviors.Ignore
		}), "", actor.Bounded(1))
		synctest.Wait()
		itself := func(to actor.ActorRef[int]) actor.ActorRef[int] { return to }
		ask := func(ctx context.Context, to actor.ActorRef[actor.ActorRef[int]]) error {
			_, err := actor.AskTimeout(ctx, to, time.Second, itself)
			return err
		}
		for range 20 {
			require.NoError(t, ask(t.Context(), reply))
		}
		require.ErrorIs(t, ask(t.Context(), mute), context.DeadlineExceeded)
		require.ErrorIs(t, ask(t.Context(), ended), actor.ErrTerminated)
		require.Error(t, ask(t.Context(), full))
		require.ErrorIs(t, ask(t.Context(), full), actor.ErrMailboxFull)
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, ask(cancelled, reply), context.Canceled)
		_, err := actor.Ask(t.Context(), reply, func(actor.ActorRef[int]) actor.ActorRef[int] { panic(errors.New("no request")) })
		require.Error(t, err)
		require.Equal(t, map[string]uint64{"replied": 20, "timed_out": 1, "unanswered": 1, "terminated": 1, "refused": 1, "other": 2}, endsOfAsks(s))

		asker := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[string], msg string) actor.Behavior[string] {
			switch msg {
			case "ask":
				actor.AskToSelf(ctx, reply, time.Second, itself, func(int, error) string { return "replied" })
				actor.AskToSelf(ctx, mute, time.Second, itself, func(int, error) string { return "ended" })
				actor.AskToSelf(ctx, mute, time.Minute, itself, func(int, error) string { return "never" })
			case "ended":
				return behaviors.Stopped
			}
			return nil
		}), "")
		asker.Tell("ask")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, map[string]uint64{"replied": 21, "timed_out": 1, "unanswered": 2, "terminated": 1, "refused": 1, "other": 3}, endsOfAsks(s))
	})
}

func TestEachMessageOfATimedTurnIsTimedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actor.NewSystem("timed", actor.WithTimeSampling(1))
		t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
		ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[time.Duration], d time.Duration) actor.Behavior[time.Duration] {
			time.Sleep(d)
			return nil
		}), "", actor.WithKind("till"))
		for range 100 {
			ref.Tell(time.Microsecond)
			ref.Tell(time.Millisecond)
		}
		ref.Tell(time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, k := range numbersOf(s).Kinds() {
			if k.Name != "till" {
				continue
			}
			require.Equal(t, uint64(201), k.Processing.Count)
			require.Equal(t, 100*(time.Microsecond+time.Millisecond)+time.Second, k.Processing.Sum)
			require.Equal(t, uint64(100), k.Processing.AtMost(1<<10))
			require.Equal(t, uint64(200), k.Processing.AtMost(1<<20))
			return
		}
		require.Fail(t, "the kind is not there")
	})
}

func TestWithoutTimeSamplingNothingIsTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actor.NewSystem("timed", actor.WithTimeSampling(0))
		t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
		ref := actor.Spawn(s, doer(), "")
		for range 1000 {
			ref.Tell(func(*actor.Context[deed]) {})
			synctest.Wait()
		}
		for _, k := range numbersOf(s).Kinds() {
			require.Zero(t, k.Processing.Count)
		}
	})
}

// slowly answers each question after a second.
func slowly() actor.Behavior[question] {
	return answering(func(_ *actor.Context[question], q question) {
		time.Sleep(time.Second)
		q.replyTo.Tell(1)
	})
}

// asksWithin lets n goroutines ask, one after the other.
func asksWithin(n int, d time.Duration, ref actor.ActorRef[question]) {
	for range n {
		go func() { _, _ = actor.AskTimeout(context.Background(), ref, d, ask) }()
		synctest.Wait()
	}
}

func TestTheAgeOfTheOldestRequestIsKnownWhereverItWaits(t *testing.T) {
	for name, opts := range map[string][]actor.SpawnOption{
		"unbounded": nil, "bounded": {actor.Bounded(1000)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testkit.NewSystem(t, testkit.WithoutEncoding())
				ref := actor.Spawn(s, slowly(), "slow", append(opts, actor.WithKind("till"))...)
				asksWithin(8, time.Hour, ref)
				for second := range 8 {
					time.Sleep(500 * time.Millisecond)
					synctest.Wait()
					all := numbersOf(s).Backlogs()
					want := time.Duration(second)*time.Second + 500*time.Millisecond
					require.Equal(t, want, all.Kinds["till"].Oldest)
					require.Len(t, all.Actors, 1)
					require.Equal(t, "/user/slow", all.Actors[0].Path)
					require.Equal(t, time.Hour, all.Actors[0].Within)
					require.Less(t, all.Actors[0].Excess(), 1.0, "its ask has plenty of time")
					time.Sleep(500 * time.Millisecond)
					synctest.Wait()
				}
				require.Empty(t, numbersOf(s).Backlogs().Kinds)
			})
		})
	}
}

func TestRequestsThatWaitForRoomCountAsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		ref := actor.Spawn(s, slowly(), "slow", actor.Bounded(2).Block(time.Hour), actor.WithKind("till"))
		asksWithin(8, time.Hour, ref)
		require.InDelta(t, 7, numbersOf(s).Backlogs().Kinds["till"].Waiting, 1, "the turn may hold the one that it handles")
		time.Sleep(time.Minute)
		require.Empty(t, numbersOf(s).Backlogs().Kinds)
	})
}

// A turn ends after a message that took long. Between turns the rest of its batch waits for a
// runner.
func TestTheAgeOfARequestIsKnownWhileItsActorWaitsForARunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		var seen []time.Duration
		ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) {
			time.Sleep(time.Second)
			seen = append(seen, numbersOf(s).Backlogs().Kinds["till"].Oldest)
			q.replyTo.Tell(1)
		}), "slow", actor.WithKind("till"))
		asksWithin(3, time.Hour, ref)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, seen)
	})
}

func TestTheActorsThatAreMostBehindAreListedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		for n := range 15 {
			ref := busyNamed(s, fmt.Sprint("worker-", n))
			for range n * 100 {
				ref.Tell(1)
			}
		}
		synctest.Wait()
		all := numbersOf(s).Backlogs().Actors
		require.Len(t, all, 10)
		for i, a := range all {
			require.Equal(t, fmt.Sprint("/user/worker-", 14-i), a.Path)
			require.Equal(t, 100*(14-i), a.Waiting)
			require.Equal(t, 14-i >= 10, a.Excess() >= 1)
		}
	})
}

// busyNamed handles its first message until the end of the system.
func busyNamed(s *actor.System, name string, opts ...actor.SpawnOption) actor.ActorRef[int] {
	ref := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], _ int) actor.Behavior[int] {
		<-ctx.Done()
		return behaviors.Same
	}), name, opts...)
	ref.Tell(0)
	synctest.Wait()
	return ref
}

func TestWhatActorsDropIsCountedByReasonForTheActorAndItsKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		full := busyNamed(s, "full", actor.Bounded(2), actor.WithKind("till"))
		for range 5 {
			full.Tell(1)
		}
		slow := actor.Spawn(s, slowly(), "slow", actor.WithKind("till"))
		asksWithin(3, 1500*time.Millisecond, slow)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		all := numbersOf(s).Backlogs().Actors
		require.Len(t, all, 2)
		for _, a := range all {
			want := map[string]uint64{"mailbox is full": 3}
			if a.Path == "/user/slow" {
				want = map[string]uint64{actorhook.ReasonText(actor.ErrWithdrawn): 1}
			}
			require.Equal(t, want, a.Dropped, a.Path)
			require.True(t, a.Dropping)
			require.GreaterOrEqual(t, a.Excess(), 1.0)
		}
		for _, k := range numbersOf(s).Kinds() {
			if k.Name == "till" {
				require.Equal(t, map[string]uint64{
					"mailbox is full": 3, actorhook.ReasonText(actor.ErrStashFull): 0, actorhook.ReasonText(actor.ErrWithdrawn): 1,
					actorhook.ReasonText(actor.ErrOverloaded): 0, "other": 0,
				}, k.Dropped)
			}
		}
		time.Sleep(actorhook.RecentlyDropped)
		all = numbersOf(s).Backlogs().Actors
		require.Len(t, all, 1, "one has nothing to do")
		require.Less(t, all[0].Excess(), 1.0, "it has dropped nothing lately")
	})
}
