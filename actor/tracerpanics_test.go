package actor_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
)

// A hostileTracer panics in one of its functions.
type hostileTracer struct{ in string }

type hostileSpan struct{}

func (h hostileTracer) panics(in string) {
	if h.in == in {
		panic("the tracer is broken")
	}
}

func (h hostileTracer) Inject(ctx context.Context) []byte {
	h.panics("Inject")
	carried, _ := ctx.Value(hostileSpan{}).([]byte)
	return carried
}

func (h hostileTracer) Start(ctx context.Context, carried []byte, _ extension.Span) (within context.Context, end func(error)) {
	h.panics("Start")
	return context.WithValue(ctx, hostileSpan{}, append(slices.Clone(carried), 1)), func(error) { h.panics("end") }
}

// A traceable is a message that is passed on until Hops is 0, and answered then.
type traceable struct {
	Hops    int
	ReplyTo actor.ActorRef[string]
}

// relay passes on what it gets: by a tell, by an ask whose answer it passes back, or by AskToSelf.
func relay(next actor.ActorRef[traceable]) actor.Behavior[traceable] {
	return behaviors.Receive(func(ctx *actor.Context[traceable], msg traceable) actor.Behavior[traceable] {
		request := func(to actor.ActorRef[string]) traceable { return traceable{msg.Hops - 1, to} }
		switch {
		case msg.Hops == 0:
			ctx.Log().Debug("answers")
			msg.ReplyTo.Tell("answered")
		case msg.Hops%3 == 0:
			next.TellContext(ctx, request(msg.ReplyTo))
		case msg.Hops%3 == 1:
			answer, err := actor.Ask(ctx, next, request)
			if err == nil {
				msg.ReplyTo.TellContext(ctx, answer)
			}
		default:
			actor.AskToSelf(ctx, next, time.Second, request, func(string, error) traceable { return traceable{0, msg.ReplyTo} })
		}
		return behaviors.Same
	})
}

func TestATracerThatPanicsLosesNoMessageAndIsLoggedOnce(t *testing.T) {
	for _, in := range []string{"Inject", "Start", "end"} {
		t.Run(in, func(t *testing.T) {
			core, lines := observer.New(zap.DebugLevel)
			inBubbleWith(t, func(t *testing.T, s *actor.System) {
				next := actor.Spawn(s, relay(actor.ActorRef[traceable]{}), "")
				for range 4 {
					next = actor.Spawn(s, relay(next), "")
				}
				ignored := actor.Spawn(s, behaviors.Ignore[string], "")
				ctx := context.WithValue(t.Context(), hostileSpan{}, []byte{1})
				for range 3 {
					answer, err := actor.AskTimeout(ctx, next, time.Minute, func(to actor.ActorRef[string]) traceable { return traceable{4, to} })
					require.NoError(t, err)
					require.Equal(t, "answered", answer)
					next.TellContext(ctx, traceable{3, ignored})
				}
				settle()
				require.Zero(t, s.DeadLetters())
			}, extension.WithTracer(hostileTracer{in}), actor.WithLogger(zap.New(core)))
			loud := lines.Filter(func(e observer.LoggedEntry) bool { return e.Level > zap.DebugLevel }).All()
			require.Len(t, loud, 1)
			require.Contains(t, loud[0].Message, "tracer has panicked")
			require.Equal(t, in, loud[0].ContextMap()["during"])
			require.Contains(t, loud[0].Stack, "hostileTracer")
		})
	}
}
