package actor_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// A front passes its messages to its child, back, and can bypass itself.
type front struct {
	ref    actor.ActorRef[int]
	do     actor.ActorRef[func(ctx *actor.Context[int])]
	passed atomic.Int64 // messages that have come to the front itself

	handler actor.MessageHandler[int]
	back    actor.ActorRef[int]
}

// newFront spawns one whose child tells got what it gets; wrap changes its behavior.
func newFront(s *actor.System, got func(int), wrap func(actor.Behavior[int]) actor.Behavior[int], opts ...actor.SpawnOption) *front {
	f := &front{}
	ready := make(chan actor.ActorRef[func(*actor.Context[int])], 1)
	b := func(ctx *actor.Context[int], next *actor.Next[int]) {
		f.back = actor.Spawn(ctx, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			got(n)
			return behaviors.Same
		}), "")
		f.handler = func(_ *actor.Context[int], n int) actor.Behavior[int] {
			f.passed.Add(1)
			f.back.Tell(n)
			return nil
		}
		next.OnMessage = f.handler
		select {
		case ready <- extension.Handle(ctx, func(do func(*actor.Context[int])) actor.Behavior[int] {
			do(ctx)
			return nil
		}):
		default:
		}
	}
	f.ref = actor.Spawn(s, wrap(b), "front", opts...)
	f.do = <-ready
	return f
}

func unwrapped(b actor.Behavior[int]) actor.Behavior[int] { return b }

func (f *front) bypass() {
	f.do.Tell(func(ctx *actor.Context[int]) { extension.Bypass(ctx, f.handler, f.back) })
}

func (f *front) closeBypass() {
	f.do.Tell(func(ctx *actor.Context[int]) { extension.Bypass(ctx, f.handler, actor.ActorRef[int]{}) })
}

func TestWhatIsDivertedDoesNotPassThroughTheActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		f := newFront(s, p.Ref().Tell, unwrapped)
		f.bypass()
		f.ref.Tell(1) // the way may not be open yet
		synctest.Wait()
		before := f.passed.Load()
		f.ref.Tell(2)
		f.ref.Tell(3)
		synctest.Wait()
		require.Equal(t, before, f.passed.Load())
		f.closeBypass()
		synctest.Wait()
		f.ref.Tell(4)
		for n := range 4 {
			p.Expect(n + 1)
		}
		require.Equal(t, before+1, f.passed.Load())
	})
}

func TestDivertedMessagesStayInOrder(t *testing.T) {
	const senders, each = 4, 5000
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	var all sync.WaitGroup
	all.Add(senders * each)
	next := make([]int, senders)
	disorder := 0
	f := newFront(s, func(n int) {
		sender, n := n/each, n%each
		if next[sender] != n {
			disorder++
		}
		next[sender] = n + 1
		all.Done()
	}, unwrapped)
	for sender := range senders {
		go func() {
			for n := range each {
				f.ref.Tell(sender*each + n)
				if n%50 == sender {
					f.bypass()
				}
				if n%70 == sender {
					f.closeBypass()
				}
			}
		}()
	}
	all.Wait()
	require.Zero(t, disorder)
}

func TestWhatWasDivertedComesBeforeTheEndOfTheChild(t *testing.T) {
	const each = 20000
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	var all sync.WaitGroup
	all.Add(each)
	var lost atomic.Int64
	actor.Subscribe(s, actor.Spawn(s, behaviors.Receive(func(*actor.Context[actor.DeadLetter], actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
		lost.Add(1)
		all.Done()
		return behaviors.Same
	}), ""))
	f := newFront(s, func(int) { all.Done() }, unwrapped)
	f.bypass()
	for n := range each {
		f.ref.Tell(n)
		if n == each/2 {
			f.do.Tell(func(ctx *actor.Context[int]) {
				extension.Bypass(ctx, f.handler, actor.ActorRef[int]{})
				ctx.Drain(f.back)
				f.back = actor.Spawn(ctx, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
					all.Done()
					return behaviors.Same
				}), "")
			})
		}
	}
	all.Wait()
	require.Zero(t, lost.Load())
}

func TestAfterTheEndOfTheChildMessagesComeToTheActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		f := newFront(s, p.Ref().Tell, unwrapped)
		f.bypass()
		synctest.Wait()
		f.do.Tell(func(ctx *actor.Context[int]) { ctx.Stop(f.back) })
		synctest.Wait()
		f.ref.Tell(1)
		synctest.Wait()
		require.EqualValues(t, 1, f.passed.Load())
	})
}

func TestAfterARestartMessagesComeToTheActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		f := newFront(s, p.Ref().Tell, func(b actor.Behavior[int]) actor.Behavior[int] {
			return behaviors.Supervise(b, actor.Strategy{Decide: func(error) actor.Directive { return actor.Restart }})
		})
		f.bypass()
		synctest.Wait()
		f.do.Tell(func(*actor.Context[int]) { panic(errBoom) })
		synctest.Wait()
		f.ref.Tell(1)
		p.Expect(1)
		require.EqualValues(t, 1, f.passed.Load())
	})
}

func TestNothingIsDivertedPastAWrapperOrABound(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		var seen int
		wrapped := newFront(s, p.Ref().Tell, func(b actor.Behavior[int]) actor.Behavior[int] {
			return func(ctx *actor.Context[int], next *actor.Next[int]) {
				b(ctx, next)
				inner := next.OnMessage
				next.OnMessage = func(ctx *actor.Context[int], n int) actor.Behavior[int] {
					seen++
					return inner(ctx, n)
				}
			}
		})
		wrapped.bypass()
		synctest.Wait()
		wrapped.ref.Tell(1)
		p.Expect(1)
		require.Equal(t, 1, seen)
	})
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		bounded := newFront(s, p.Ref().Tell, unwrapped, actor.Bounded(9).DropOldest())
		bounded.bypass()
		synctest.Wait()
		bounded.ref.Tell(1)
		p.Expect(1)
		require.EqualValues(t, 1, bounded.passed.Load())
	})
}

func TestOnlyAChildCanBeDivertedTo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		f := newFront(s, p.Ref().Tell, unwrapped)
		said := make(chan any, 1)
		f.do.Tell(func(ctx *actor.Context[int]) {
			defer func() { said <- recover() }()
			extension.Bypass(ctx, f.handler, p.Ref())
		})
		require.Contains(t, <-said, "which is not its child")
	})
}

func TestADeliveredMessageIsNotOvertakenThroughTheDetour(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		release := make(chan struct{})
		f := newFront(s, p.Ref().Tell, unwrapped)
		f.bypass()
		synctest.Wait()
		f.ref.Tell(1)
		synctest.Wait()
		require.Zero(t, f.passed.Load(), "the bypass is open")
		f.do.Tell(func(*actor.Context[int]) { <-release })
		extension.Deliver(f.ref, 2, func(error) {})
		f.ref.Tell(3)
		close(release)
		for n := range 3 {
			p.Expect(n + 1)
		}
		synctest.Wait()
		f.ref.Tell(4)
		p.Expect(4)
		require.EqualValues(t, 2, f.passed.Load(), "it is open again")
	})
}

func TestSendersThatMeetTheEndOfABypassLoseNothing(t *testing.T) {
	const senders, each = 4, 10000
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	var all sync.WaitGroup
	all.Add(senders * each)
	var lost atomic.Int64
	actor.Subscribe(s, actor.Spawn(s, behaviors.Receive(func(*actor.Context[actor.DeadLetter], actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
		lost.Add(1)
		all.Done()
		return behaviors.Same
	}), ""))
	f := newFront(s, func(int) { all.Done() }, unwrapped)
	move := func(ctx *actor.Context[int]) {
		extension.Bypass(ctx, f.handler, actor.ActorRef[int]{})
		ctx.Drain(f.back)
		f.back = actor.Spawn(ctx, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
			all.Done()
			return behaviors.Same
		}), "")
		extension.Bypass(ctx, f.handler, f.back)
	}
	for range senders {
		go func() {
			for n := range each {
				f.ref.Tell(n)
				if n%100 == 0 {
					f.do.Tell(move)
				}
			}
		}()
	}
	all.Wait()
	require.Zero(t, lost.Load())
}

// The child owns its extras; the parent must not look at them. The race detector sees it.
func TestABypassDoesNotLookIntoAChildThatStarts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		for range 20 {
			actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
				child := actor.Spawn(ctx, behaviors.Supervise(behaviors.Ignore[int], actor.Strategy{}), "")
				handle := func(*actor.Context[int], int) actor.Behavior[int] { return nil }
				extension.Bypass(ctx, handle, child)
				return behaviors.Receive(handle)
			}), "")
		}
		synctest.Wait()
	})
}
