package actor_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// stuck spawns an actor that is at its first question until release is called.
func stuck(s *actor.System, m actor.Mailbox) (ref actor.ActorRef[question], release func()) {
	wait := make(chan struct{})
	ref = actor.Spawn(s, answering(func(_ *actor.Context[question], q question) {
		<-wait
		q.replyTo.Tell(1)
	}), "stuck", m)
	ref.Tell(question{})
	settle()
	return ref, sync.OnceFunc(func() { close(wait) })
}

func TestWhoAsksAFullMailboxKnowsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref, release := stuck(s, actor.Bounded(1))
		defer release()
		reports := deadLetters(t, s)
		ref.Tell(question{})
		start := time.Now()
		_, err := actor.Ask(context.Background(), ref, ask)
		require.ErrorIs(t, err, actor.ErrMailboxFull)
		require.EqualError(t, err, "ask understudy://test/user/stuck: actor: mailbox is full")
		require.Zero(t, time.Since(start))
		require.ErrorIs(t, reports.Receive().Reason, actor.ErrMailboxFull)
		ref.Tell(question{})
		require.ErrorIs(t, reports.Receive().Reason, actor.ErrMailboxFull)
		var delivered error
		extension.Deliver(ref, question{}, func(err error) { delivered = err })
		require.ErrorIs(t, delivered, actor.ErrMailboxFull)
		require.EqualValues(t, 2, s.DeadLetters())
	})
}

func TestATellWaitsForRoomInAMailboxThatBlocks(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		ref, release := blocked(s, p, actor.Bounded(1).Block(time.Minute))
		ref.Tell(1)
		time.AfterFunc(time.Second, func() { close(release) })
		start := time.Now()
		for n := range 10 {
			ref.Tell(n + 2)
		}
		require.Equal(t, time.Second, time.Since(start))
		for n := range 12 {
			p.Expect(n)
		}
		require.Zero(t, s.DeadLetters())
	})
}

func TestATellThatHasWaitedLongEnoughForRoomIsADeadLetter(t *testing.T) {
	for name, m := range map[string]struct {
		mailbox actor.Mailbox
		waits   time.Duration
	}{
		"a second": {actor.Bounded(1).Block(time.Second), time.Second},
		"a minute": {actor.Bounded(1).Block(time.Minute), time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				ref, release := stuck(s, m.mailbox)
				defer release()
				reports := deadLetters(t, s)
				ref.Tell(question{})
				start := time.Now()
				ref.Tell(question{})
				require.Equal(t, m.waits, time.Since(start))
				require.ErrorIs(t, reports.Receive().Reason, actor.ErrMailboxFull)
				_, err := actor.Ask(context.Background(), ref, ask)
				require.ErrorIs(t, err, actor.ErrMailboxFull)
				require.Equal(t, 2*m.waits, time.Since(start))
			})
		})
	}
}

func TestThoseWhoWaitForRoomGetItInTheOrderInWhichTheyCame(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		ref, release := blocked(s, p, actor.Bounded(2).Block(time.Hour))
		for n := range 20 {
			go ref.Tell(n + 1)
			settle()
		}
		close(release)
		for n := range 21 {
			p.Expect(n)
		}
	})
}

func TestAnActorDoesNotWaitForRoomInItsOwnMailbox(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		reports := deadLetters(t, s)
		ref := actor.Spawn(s, obedient(), "", actor.Bounded(1).Block(time.Hour))
		start := time.Now()
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Self().Tell(say(p, "first"))
			ctx.Self().Tell(say(p, "second"))
		}))
		p.Expect("first")
		require.ErrorIs(t, reports.Receive().Reason, actor.ErrMailboxFull)
		require.Zero(t, time.Since(start))
	})
}

func TestAnActorDoesNotWaitForRoomInItsOwnMailboxAtItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		reports := deadLetters(t, s)
		var took time.Duration
		toItself := func(ctx *actor.Context[order]) {
			start := time.Now()
			for range 3 {
				ctx.Self().Tell(stop)
			}
			took += time.Since(start)
		}
		ref := actor.Spawn(s, obedient().OnSignal(func(ctx *actor.Context[order], _ actor.Signal) actor.Behavior[order] {
			toItself(ctx)
			return behaviors.Same
		}), "", actor.Bounded(1).Block(time.Hour))
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			ctx.Defer(func() { toItself(ctx) })
			return behaviors.Stopped
		})
		for range 6 {
			reports.Receive()
		}
		require.Zero(t, took)
	})
}

func TestWhoWaitsForRoomIsTurnedAwayWhenTheActorEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		reports := deadLetters(t, s)
		release := make(chan struct{})
		ref := actor.Spawn(s, stopsAt(release), "", actor.Bounded(1).Block(time.Hour))
		ref.Tell(0)
		settle()
		ref.Tell(1)
		told := make(chan struct{})
		go func() {
			defer close(told)
			ref.Tell(2)
		}()
		settle()
		start := time.Now()
		close(release)
		<-told
		require.Zero(t, time.Since(start))
		lost := map[any]bool{}
		for range 2 {
			report := reports.Receive()
			require.ErrorIs(t, report.Reason, actor.ErrTerminated)
			lost[report.Message] = true
		}
		require.Equal(t, map[any]bool{1: true, 2: true}, lost)
	})
}

func TestTwoActorsThatWaitForEachOthersRoomGoOnWhenTheirTimeIsOver(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		box := actor.Bounded(1).Block(time.Second)
		a, b := actor.Spawn(s, obedient(), "a", box), actor.Spawn(s, obedient(), "b", box)
		a.Tell(flood(b, 3))
		b.Tell(flood(a, 3))
		time.Sleep(time.Minute)
		p := testkit.NewProbe[string](t, s)
		a.Tell(say(p, "alive"))
		p.Expect("alive")
	})
}

func TestOnlyABoundedMailboxOverflows(t *testing.T) {
	require.PanicsWithValue(t, "actor: Block is for a mailbox that is Bounded",
		func() { actor.Mailbox{}.Block(time.Second) })
	require.PanicsWithValue(t, "actor: DropOldest is for a mailbox that is Bounded",
		func() { actor.Prioritized(func(n int) int { return n }).DropOldest() })
	require.PanicsWithValue(t, "actor: time to wait for room in a mailbox 0s is not positive",
		func() { actor.Bounded(1).Block(0) })
}

// A job has a priority.
type job struct{ priority, number int }

func (j job) String() string { return fmt.Sprintf("%d-%d", j.priority, j.number) }

func priorityOf(j job) int {
	if j.priority < 0 {
		panic(errBoom)
	}
	return j.priority
}

// worker handles jobs, but the first only when release is closed.
func worker(p *testkit.Probe[string], release <-chan struct{}) actor.Behavior[job] {
	return behaviors.Supervise(behaviors.Receive(func(ctx *actor.Context[job], j job) actor.Behavior[job] {
		<-release
		if j.number < 0 {
			return ctx.Fail(errBoom)
		}
		p.Ref().Tell(j.String())
		return behaviors.Same
	}), actor.Strategy{})
}

func TestAMailboxWithPrioritiesGivesTheLowestFirstAndEqualsInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		release := make(chan struct{})
		ref := actor.Spawn(s, worker(p, release), "", actor.Prioritized(priorityOf))
		ref.Tell(job{9, 0})
		settle()
		for n := range 3 {
			for priority := 3; priority > 0; priority-- {
				ref.Tell(job{priority, n})
			}
		}
		extension.Deliver(ref, job{2, 3}, func(err error) { require.NoError(t, err) })
		close(release)
		p.Expect("9-0")
		for priority := 1; priority <= 3; priority++ {
			for n := range 3 {
				p.Expect(job{priority, n}.String())
			}
			if priority == 2 {
				p.Expect("2-3")
			}
		}
	})
}

func TestAFailureOfAPriorityIsOneOfTheActorAndLosesThatMessageOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		release := make(chan struct{})
		ref := actor.Spawn(s, worker(p, release), "", actor.Prioritized(priorityOf))
		ref.Tell(job{9, 0})
		settle()
		var delivered error
		ref.Tell(job{2, 0})
		ref.Tell(job{-1, 0})
		extension.Deliver(ref, job{-1, 0}, func(err error) { delivered = err })
		ref.Tell(job{1, -1})
		ref.Tell(job{1, 0})
		close(release)
		for _, want := range []string{"9-0", "1-0", "2-0"} {
			p.Expect(want)
		}
		require.Error(t, delivered)
	})
}

func TestWhatWaitsByPriorityAtTheEndIsDeadLetters(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		reports := deadLetters(t, s)
		release := make(chan struct{})
		ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[job], j job) actor.Behavior[job] {
			if j.priority == 1 {
				return behaviors.Stopped
			}
			<-release
			return behaviors.Same
		}), "", actor.Prioritized(priorityOf))
		ref.Tell(job{9, 0})
		settle()
		for n := range 50 {
			ref.Tell(job{3, n})
		}
		ref.Tell(job{1, 0})
		close(release)
		for n := range 50 {
			report := reports.Receive()
			require.Equal(t, job{3, n}, report.Message)
			require.ErrorIs(t, report.Reason, actor.ErrTerminated)
		}
	})
}

func TestAPriorityIsForTheActorsOwnMessages(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		require.PanicsWithValue(t,
			"actor: the mailbox of /user/other has a priority of type func(actor_test.job) int; it needs one of type func(int) int",
			func() {
				actor.Spawn(s, behaviors.Ignore[int], "other", actor.Prioritized(priorityOf))
			})
	})
}

func TestATimerThatIsHandledMakesNoRoomForAMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		reports := deadLetters(t, s)
		ref := actor.Spawn(s, obedient(), "", actor.Bounded(1).Block(time.Hour))
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.After("timer", time.Millisecond, say(p, "timer"))
			time.Sleep(time.Second) // the handler is at work
		}))
		time.Sleep(time.Second / 2)
		ref.Tell(say(p, "first"))
		go ref.Tell(say(p, "second"))
		p.Expect("timer")
		p.Expect("first")
		p.Expect("second")
		reports.ExpectNone(time.Hour)
	})
}

func TestAnActorWithPrioritiesIsDrainedOfWhatWaitsAndOfNothingElse(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		reports := deadLetters(t, s)
		release := make(chan struct{})
		var child actor.ActorRef[job]
		parent := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			child = actor.Spawn(ctx, worker(p, release), "", actor.Prioritized(priorityOf))
			return obedient()
		}), "")
		settle()
		child.Tell(job{9, 0})
		settle()
		child.Tell(job{3, 0})
		child.Tell(job{2, 0})
		parent.Tell(do(func(ctx *actor.Context[order]) { ctx.Drain(child) }))
		settle()
		child.Tell(job{1, 0})
		close(release)
		p.Expect("9-0")
		p.Expect("2-0")
		p.Expect("3-0")
		require.Equal(t, job{1, 0}, reports.Receive().Message)
	})
}

// flood tells so many orders, in one that does it.
func flood(to actor.ActorRef[order], orders int) order {
	return do(func(*actor.Context[order]) {
		for range orders {
			to.Tell(do(func(*actor.Context[order]) {}))
		}
	})
}

// stopsAt is at its first message until release is closed, and stops then.
func stopsAt(release <-chan struct{}) actor.Behavior[int] {
	return behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
		<-release
		return behaviors.Stopped
	})
}
