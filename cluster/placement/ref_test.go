//go:build !quick

package placement

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// The messages are numbers, and the actor that gets them is a probe.
func inRefWorld(t *testing.T, f func(t *testing.T, s *actor.System, ref actor.ActorRef[int])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		f(t, s, refTo[int](s, "x"))
	})
}

// hosted lets messages to a label come to an actor of s.
func hosted[M any](s *actor.System, label string, ref actor.ActorRef[M]) *stay {
	of := &stay{lane: hubOf(s).lane(escape(label))}
	if err := of.begin(label, reflect.TypeFor[M](), deliverTo(ref)); err != nil {
		panic(err.Error())
	}
	return of
}

func TestARefHoldsMessagesUntilItsActorRuns(t *testing.T) {
	inRefWorld(t, func(t *testing.T, s *actor.System, ref actor.ActorRef[int]) {
		for n := range maxHeld + 2 {
			ref.Tell(n)
		}
		synctest.Wait()
		p := testkit.NewProbe[int](t, s)
		hosted(s, "x", p.Ref())
		for n := range maxHeld {
			p.Expect(n + 2)
		}
		ref.Tell(-1)
		p.Expect(-1)
		require.Equal(t, uint64(2), s.DeadLetters())
	})
}

func TestWhatARefHasNoRoomForIsADeadLetter(t *testing.T) {
	inRefWorld(t, func(t *testing.T, s *actor.System, ref actor.ActorRef[int]) {
		letters := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, letters.Ref())
		synctest.Wait()
		for n := range maxHeld + 1 {
			ref.Tell(n)
		}
		dead := letters.Receive()
		require.Equal(t, 0, dead.Message)
		require.ErrorIs(t, dead.Reason, ErrBufferFull)
		require.ErrorIs(t, dead.Reason, ErrUnavailable)
		require.Equal(t, ref.Path(), dead.Recipient)
		letters.ExpectNone(time.Hour)
	})
}

func TestARefFollowsItsActor(t *testing.T) {
	inRefWorld(t, func(t *testing.T, s *actor.System, ref actor.ActorRef[int]) {
		old, young := testkit.NewProbe[int](t, s), testkit.NewProbe[int](t, s)
		first := hosted(s, "x", old.Ref())
		ref.Tell(1)
		old.Expect(1)

		first.leave()
		ref.Tell(2)
		old.ExpectNone(time.Hour)
		hosted(s, "x", young.Ref())
		young.Expect(2)

		first.leave() // once more, as at the end of the actor
		ref.Tell(3)
		young.Expect(3)
	})
}

func TestAnAskThroughARefEndsWithItsContext(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := actor.Ask(ctx, workers.Ref(w.system, "later"), func(r actor.ActorRef[answered]) order { return order{ReplyTo: r} })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, actor.ErrWithdrawn)
		require.Equal(t, time.Second, time.Since(began))
		w.start("later", 1, job{})
		w.started("later", 1)
		require.Equal(t, 1, w.ask("later").N, "what was held was withdrawn with its ask")
	})
}

func TestMessagesOfOneSenderStayInOrder(t *testing.T) {
	inRefWorld(t, func(t *testing.T, s *actor.System, ref actor.ActorRef[int]) {
		const many = 500
		go func() {
			for n := range many {
				ref.Tell(n)
			}
		}()
		p := testkit.NewProbe[int](t, s)
		hosted(s, "x", p.Ref())
		for n := range many {
			p.Expect(n)
		}
	})
}

func TestThereIsOneRefForEachLabel(t *testing.T) {
	inRefWorld(t, func(t *testing.T, s *actor.System, ref actor.ActorRef[int]) {
		require.True(t, ref == refTo[int](s, "x"))  //nolint:testifylint // Equal would look into the actor, which runs
		require.False(t, ref == refTo[int](s, "y")) //nolint:testifylint // likewise
		require.Panics(t, func() { refTo[string](s, "x") })
		hosted(s, "z", testkit.NewProbe[string](t, s).Ref())
		require.Panics(t, func() { refTo[int](s, "z") })
	})
}

func TestAnActorOfOtherMessagesThanItsRefsCannotStart(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		refTo[int](w.system, "x")
		synctest.Wait() // until it listens
		w.start("x", 1, job{})
		why := w.failed("x", 1)
		require.Contains(t, why, `"x" is used with messages of type int`)
		require.Contains(t, why, "give it another label")
		w.heard.ExpectNone(time.Hour)
	})
}

func TestWhatARefHoldsWhenTheSystemEndsIsADeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actor.NewSystem("test")
		ref := refTo[int](s, "x")
		ref.Tell(1)
		synctest.Wait()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Equal(t, uint64(1), s.DeadLetters())
	})
}

// While its actor moves, nothing is told to the old one that stops; all waits for the new.
func TestWhatIsToldDuringAMoveWaitsForTheNextActor(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		w.start("x", 1, job{Lasts: time.Second})
		w.started("x", 1)
		require.Equal(t, 1, w.ask("x").N)
		w.stop("x", 1)
		synctest.Wait()
		answers := make(chan answered, 3)
		for range cap(answers) {
			go func() { answers <- w.ask("x") }()
		}
		w.stopped("x", 1)
		w.start("x", 2, job{})
		w.started("x", 2)
		got := map[int]bool{}
		for range cap(answers) {
			got[(<-answers).N] = true
		}
		require.Equal(t, map[int]bool{1: true, 2: true, 3: true}, got)
		require.Zero(t, w.system.DeadLetters())
	})
}

func BenchmarkRef(b *testing.B) {
	s := actor.NewSystem("bench")
	defer func() { _ = s.Shutdown(context.WithoutCancel(b.Context())) }()
	done := make(chan struct{})
	n := 0
	target := actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
		if n++; n == b.N {
			close(done)
		}
		return nil
	}), "target")
	hosted(s, "x", target)
	ref := refTo[int](s, "x")
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		ref.Tell(i)
	}
	<-done
}

// What a label costs that is asked for, for as long as the system lives.
func BenchmarkRefsOfManyLabels(b *testing.B) {
	s := actor.NewSystem("test")
	defer func() { _ = s.Shutdown(context.WithoutCancel(b.Context())) }()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := heap()
	b.ResetTimer()
	for i := range b.N {
		refTo[int](s, fmt.Sprintf("label/%08d", i))
	}
	b.StopTimer()
	time.Sleep(100 * time.Millisecond) // they subscribe; a benchmark cannot run in a bubble
	b.ReportMetric(float64(heap()-before)/float64(b.N), "B/label")
}
