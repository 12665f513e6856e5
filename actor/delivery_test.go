package actor_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// fates collects what Deliver reports, in order.
type fates struct{ told []error }

func (f *fates) add(err error) { f.told = append(f.told, err) }

func TestDeliverReportsThatTheHandlerHasReturned(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		f := &fates{}
		ref := actor.Spawn(s, obedient(), "one")
		gate := make(chan struct{})
		extension.Deliver(ref, do(func(*actor.Context[order]) { <-gate }), f.add)
		extension.Deliver(ref, func(*actor.Context[order]) actor.Behavior[order] { return behaviors.Unhandled }, f.add)
		synctest.Wait()
		require.Empty(t, f.told)
		close(gate)
		synctest.Wait()
		require.Equal(t, []error{nil, nil}, f.told)
	})
}

func TestDeliverReportsTheFailureAndWhatIsNeverHandled(t *testing.T) {
	failures := map[string]order{
		"returned": fail(errBoom),
		"panic":    func(*actor.Context[order]) actor.Behavior[order] { panic(errBoom) },
		"goexit": func(*actor.Context[order]) actor.Behavior[order] {
			runtime.Goexit()
			return nil
		},
	}
	for name, failing := range failures {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				f := &fates{}
				dead := testkit.NewProbe[actor.DeadLetter](t, s)
				actor.Subscribe(s, dead.Ref())
				ref := actor.Spawn(s, obedient(), "one")
				gate := make(chan struct{})
				ref.Tell(do(func(*actor.Context[order]) { <-gate }))
				extension.Deliver(ref, failing, f.add)
				extension.Deliver(ref, do(func(*actor.Context[order]) {}), f.add)
				close(gate)
				synctest.Wait()
				extension.Deliver(ref, failing, f.add)
				require.Len(t, f.told, 3)
				failed, ok := errors.AsType[*extension.HandlingError](f.told[0])
				require.True(t, ok)
				require.True(t, failed.Ended)
				if name != "goexit" {
					require.ErrorIs(t, failed, errBoom)
				}
				require.ErrorIs(t, f.told[1], actor.ErrTerminated)
				require.ErrorIs(t, f.told[2], actor.ErrTerminated)
				dead.ExpectNone(0)
			})
		})
	}
}

func TestDeliverReportsThatSupervisionHasKeptTheActor(t *testing.T) {
	for _, d := range []actor.Directive{actor.Resume, actor.Restart} {
		inBubble(t, func(t *testing.T, s *actor.System) {
			f := &fates{}
			strategy := actor.Strategy{Decide: func(error) actor.Directive { return d }}
			ref := actor.Spawn(s, behaviors.Supervise(obedient(), strategy), "one")
			for _, failing := range []order{fail(errBoom), func(*actor.Context[order]) actor.Behavior[order] { panic(errBoom) }} {
				extension.Deliver(ref, failing, f.add)
			}
			extension.Deliver(ref, do(func(*actor.Context[order]) {}), f.add)
			synctest.Wait()
			require.Len(t, f.told, 3)
			for _, err := range f.told[:2] {
				failed, ok := errors.AsType[*extension.HandlingError](err)
				require.True(t, ok)
				require.False(t, failed.Ended)
				require.ErrorIs(t, err, errBoom)
				require.EqualError(t, failed.Err, err.Error()[len("actor: failed at the message: "):])
			}
			require.NoError(t, f.told[2])
		})
	}
}

// Callers that count deliveries rely on the order: first the handled messages, then the others,
// then the end.
func TestDeliverReportsBeforeTheEndIsKnown(t *testing.T) {
	ends := map[string]order{"stop": stop, "fail": fail(errBoom)}
	for name, last := range ends {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				report := func(what string) func(error) { return func(error) { p.Ref().Tell(what) } }
				ref := actor.Spawn(s, obedient(), "one")
				gate := make(chan struct{})
				ref.Tell(do(func(*actor.Context[order]) { <-gate }))
				extension.Deliver(ref, last, report("the last"))
				extension.Deliver(ref, stop, report("one too many"))
				actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
					ctx.Watch(ref)
					return actor.Behavior[int](behaviors.Ignore[int]).OnSignal(func(_ *actor.Context[int], sig actor.Signal) actor.Behavior[int] {
						if _, ended := sig.(actor.Terminated); ended {
							p.Ref().Tell("terminated")
						}
						return nil
					})
				}), "watcher")
				synctest.Wait()
				close(gate)
				p.Expect("the last")
				p.Expect("one too many")
				p.Expect("terminated")
			})
		})
	}
}

func TestDeliverReportsAFullMailbox(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		f := &fates{}
		ref := actor.Spawn(s, obedient(), "one", actor.Bounded(1))
		gate := make(chan struct{})
		ref.Tell(do(func(*actor.Context[order]) { <-gate }))
		synctest.Wait()
		for range 3 {
			extension.Deliver(ref, do(func(*actor.Context[order]) {}), f.add)
		}
		close(gate)
		synctest.Wait()
		require.Equal(t, []error{actor.ErrMailboxFull, actor.ErrMailboxFull, nil}, f.told)
	})
}

func TestDeliverNeedsAnActorOfThisNode(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		f := &fates{}
		extension.Deliver(actor.ActorRef[int]{}, 1, f.add)
		extension.Deliver(actor.Resolve[int](s, "understudy://"+s.Name()+"/user/nobody"), 1, f.add)
		require.Len(t, f.told, 2)
		require.ErrorIs(t, f.told[0], actor.ErrNoRef)
		require.ErrorIs(t, f.told[1], actor.ErrNoSuchActor)
	})
}

// A protocol beside the messages must not be lost where those are.
func TestHandlersAreNotCountedByTheBoundOfAMailbox(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		handlers := testkit.NewProbe[actor.ActorRef[int]](t, s)
		ref := actor.Spawn(s, obedient(), "one", actor.Bounded(1).DropOldest())
		gate := make(chan struct{})
		ref.Tell(do(func(ctx *actor.Context[order]) {
			handlers.Ref().Tell(extension.Handle(ctx, func(n int) actor.Behavior[order] {
				p.Ref().Tell(n)
				return nil
			}))
			<-gate
		}))
		handler := handlers.Receive()
		for n := range 10 {
			handler.Tell(n)
			ref.Tell(do(func(*actor.Context[order]) {}))
		}
		close(gate)
		for n := range 10 {
			p.Expect(n)
		}
	})
}

func BenchmarkDeliver(b *testing.B) {
	s := actor.NewSystem("bench")
	defer func() { _ = s.Shutdown(context.Background()) }()
	ref := actor.Spawn(s, behaviors.Ignore[int], "one")
	done := make(chan struct{})
	last := func(error) { close(done) }
	b.ReportAllocs()
	for n := range b.N {
		if n == b.N-1 {
			extension.Deliver(ref, n, last)
		} else {
			extension.Deliver(ref, n, func(error) {})
		}
	}
	<-done
}
