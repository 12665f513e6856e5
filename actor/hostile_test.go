package actor_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// A spiteful error panics whatever it is asked.
type spiteful struct{}

func (spiteful) Error() string                { panic("Error") }
func (spiteful) Is(error) bool                { panic("Is") }
func (spiteful) As(any) bool                  { panic("As") }
func (spiteful) Final() bool                  { panic("Final") }
func (spiteful) MarshalCBOR() ([]byte, error) { panic("MarshalCBOR") }

func TestAnErrorWhoseMethodsPanicIsAnErrorLikeOthers(t *testing.T) {
	for d, want := range map[actor.Directive]string{actor.Restart: "start", actor.Stop: "", actor.Escalate: ""} {
		inBubble(t, func(t *testing.T, s *actor.System) {
			p := testkit.NewProbe[string](t, s)
			ref := actor.Spawn(s, behaviors.Supervise(life(p), always(d)), "it")
			p.Expect("start")
			ref.Tell(fail(spiteful{}))
			if want == "" {
				p.Expect("it PostStop")
				p.ExpectTerminated(ref)
				return
			}
			p.Expect("it PreRestart")
			p.Expect(want)
		})
	}
}

func TestTheErrorOfATaskMayPanic(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		s.OnShutdown(actor.ServiceUnbind, "spiteful", func(context.Context) error { return spiteful{} })
		var err spiteful
		require.ErrorAs(t, s.Shutdown(t.Context()), &err)
	})
}

// An overContext has ended by a spiteful error.
type overContext struct{ context.Context }

func (overContext) Err() error { return spiteful{} }

func TestTheErrorOfTheContextOfAnAskMayPanic(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, behaviors.Ignore[actor.ActorRef[int]], "it")
		_, err := actor.Ask(overContext{t.Context()}, ref, func(to actor.ActorRef[int]) actor.ActorRef[int] { return to })
		var reason spiteful
		require.ErrorAs(t, err, &reason)
	})
}

func TestTheReasonOfAGateMayPanic(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		p := testkit.NewProbe[string](t, s)
		var shut error
		ref := actor.Spawn(s, obedient(), "it", extension.WithAdmissionCheck(func() error { return shut }))
		ref.Tell(do(func(ctx *actor.Context[order]) {
			shut = spiteful{}
			ctx.Self().Tell(say(p, "one"))
			ctx.Self().Tell(say(p, "two"))
		}))
		p.ExpectTerminated(ref)
		require.Equal(t, spiteful{}, dead.Receive().Reason)
		p.ExpectNone(time.Hour)
	})
}

func TestAPanicInAFunctionGivenToDeliverIsLogged(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(life(p), actor.Strategy{}), "it")
		extension.Deliver(ref, say(p, "handled"), func(error) { panic("done") })
		p.Expect("start")
		p.Expect("handled")
		extension.Deliver(ref, fail(errBoom), func(error) { panic("done") })
		p.Expect("it PreRestart")
		p.Expect("start")
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			ctx.Defer(func() { panic("deferred") })
			extension.Deliver(ref, say(p, "never"), func(error) { panic("done") })
			extension.Deliver(ref, say(p, "never"), func(error) { panic("done") })
			return behaviors.Stopped
		})
		p.Expect("it PostStop")
		p.ExpectTerminated(ref)
		require.Equal(t, 5, logs.FilterMessage("failure outside of supervision").Len())
	}, actor.WithLogger(zap.New(core)))
}

func TestAMessageThatPanicsWhenItIsEncodedIsNotSerializable(t *testing.T) {
	_, err := extension.Pack(spiteful{})
	require.ErrorIs(t, err, actor.ErrNotSerializable)
	require.ErrorContains(t, err, "MarshalCBOR")
}

func init() { actor.RegisterType[spiteful]("actor_test.spiteful") }
