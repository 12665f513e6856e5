package otel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/actor/router"
	"github.com/understudy-go/understudy/actor/telemetry/otel"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// word is a message that may ask for a reply.
type word struct {
	Text    string
	ReplyTo actor.ActorRef[string]
}

func init() { actor.RegisterType[word]("otel_test.word") }

// tracing is a provider that samples everything, and what it has exported.
type tracing struct {
	*tracetest.InMemoryExporter
	provider *sdk.TracerProvider
}

func newTracing(opts ...sdk.TracerProviderOption) tracing {
	e := tracetest.NewInMemoryExporter()
	return tracing{e, sdk.NewTracerProvider(append(opts, sdk.WithSyncer(e))...)}
}

// root begins the span of a caller outside of actors.
func (tr tracing) root() (ctx context.Context, end func()) {
	ctx, span := tr.provider.Tracer("caller").Start(context.Background(), "caller")
	return ctx, func() { span.End() }
}

// trees returns the spans as trees of names, indented, siblings in alphabetical order, with links
// as "~ name".
func (tr tracing) trees() string {
	spans := tr.GetSpans()
	names := map[trace.SpanID]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID()] = s.Name
	}
	var lines strings.Builder
	var print func(parent trace.SpanID, indent string)
	print = func(parent trace.SpanID, indent string) {
		var below []tracetest.SpanStub
		for _, s := range spans {
			if s.Parent.SpanID() == parent {
				below = append(below, s)
			}
		}
		slices.SortFunc(below, func(a, b tracetest.SpanStub) int { return strings.Compare(a.Name, b.Name) })
		for _, s := range below {
			text := s.Name
			for _, l := range s.Links {
				text += " ~ " + names[l.SpanContext.SpanID()]
			}
			fmt.Fprintln(&lines, indent+text)
			print(s.SpanContext.SpanID(), indent+"  ")
		}
	}
	print(trace.SpanID{}, "")
	return lines.String()
}

// tree removes the indentation of a literal.
func tree(text string) string { return strings.ReplaceAll(strings.TrimPrefix(text, "\n"), "\t", "") }

// clerk is a behavior that does f with each word.
func clerk(f func(ctx *actor.Context[word], w word)) actor.Behavior[word] {
	return behaviors.Receive(func(ctx *actor.Context[word], w word) actor.Behavior[word] {
		f(ctx, w)
		return behaviors.Same
	})
}

func nothing(*actor.Context[word], word) {}

// traced runs f in virtual time with a system that traces, below the span of a caller.
func traced(t *testing.T, want string, f func(ctx context.Context, s *actor.System)) tracing {
	t.Helper()
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, otel.WithTracing(tr.provider))
		ctx, end := tr.root()
		f(ctx, s)
		synctest.Wait()
		end()
	})
	require.Equal(t, tree(want), tr.trees())
	return tr
}

func TestATellContinuesTheTrace(t *testing.T) {
	tr := traced(t, `
		caller
		  process front
		    process back
		`, func(ctx context.Context, s *actor.System) {
		back := actor.Spawn(s, clerk(nothing), "back", actor.WithKind("back"))
		front := actor.Spawn(s, clerk(func(ctx *actor.Context[word], w word) { back.TellContext(ctx, w) }), "front", actor.WithKind("front"))
		front.TellContext(ctx, word{Text: "a"})
		front.Tell(word{Text: "in no trace"})
	})
	i := slices.IndexFunc(tr.GetSpans(), func(s tracetest.SpanStub) bool { return s.Name == "process back" })
	back := tr.GetSpans()[i]
	require.Equal(t, trace.SpanKindConsumer, back.SpanKind)
	require.Subset(t, back.Attributes, []attribute.KeyValue{
		attribute.String("messaging.system", "understudy"), attribute.String("messaging.operation.name", "process"),
		attribute.String("messaging.destination.name", "/user/back"), attribute.String("messaging.understudy.message_type", "otel_test.word"),
	})
	require.Equal(t, otel.ScopeName, back.InstrumentationScope.Name)
}

func TestAnAskIsASpanAroundItsHandler(t *testing.T) {
	traced(t, `
		caller
		  ask otel_test.word
		    process front
		      ask otel_test.word
		        process back
		`, func(ctx context.Context, s *actor.System) {
		reply := func(_ *actor.Context[word], w word) { w.ReplyTo.Tell("yes") }
		back := actor.Spawn(s, clerk(reply), "", actor.WithKind("back"))
		front := actor.Spawn(s, clerk(func(ctx *actor.Context[word], w word) {
			answer, _ := actor.Ask(ctx, back, func(to actor.ActorRef[string]) word { return word{ReplyTo: to} })
			w.ReplyTo.Tell(answer)
		}), "", actor.WithKind("front"))
		_, err := actor.AskTimeout(ctx, front, time.Second, func(to actor.ActorRef[string]) word { return word{ReplyTo: to} })
		if err != nil {
			panic(err)
		}
	})
}

func TestAnAskToSelfIsASpan_AndItsReplyIsHandledInTheTrace(t *testing.T) {
	traced(t, `
		caller
		  process front
		    ask otel_test.word
		      process back
		    process front
		`, func(ctx context.Context, s *actor.System) {
		back := actor.Spawn(s, clerk(func(_ *actor.Context[word], w word) { w.ReplyTo.Tell("yes") }), "", actor.WithKind("back"))
		actor.Spawn(s, clerk(func(ctx *actor.Context[word], w word) {
			if w.Text == "begin" {
				actor.AskToSelf(ctx, back, time.Second, func(to actor.ActorRef[string]) word { return word{ReplyTo: to} },
					func(string, error) word { return word{Text: "end"} })
			}
		}), "", actor.WithKind("front")).TellContext(ctx, word{Text: "begin"})
	})
}

func TestPipesAdaptersStashesAndForwardingKeepTheTrace(t *testing.T) {
	traced(t, `
		caller
		  process front
		    process back
		    process front
		      in the goroutine
		  process stasher
		  process stasher
		`, func(ctx context.Context, s *actor.System) {
		back := actor.Spawn(s, clerk(nothing), "", actor.WithKind("back"))
		var adapter actor.ActorRef[string]
		ready := make(chan struct{})
		front := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[word]) actor.Behavior[word] {
			adapter = actor.Adapt(ctx, func(text string) word { return word{Text: text} })
			close(ready)
			return clerk(func(ctx *actor.Context[word], w word) {
				if w.Text == "piped" {
					_, span := trace.SpanFromContext(ctx).TracerProvider().Tracer("test").Start(ctx, "in the goroutine")
					span.End()
					return
				}
				back.TellContext(ctx, w)
				actor.PipeToSelf(ctx, func(context.Context) (string, error) { return "piped", nil },
					func(text string, _ error) word { return word{Text: text} })
			})
		}), "", actor.WithKind("front"))
		<-ready
		adapter.TellContext(ctx, "adapted")
		stasher := actor.Spawn(s, behaviors.WithStash(10, func(st *actor.Stash[word]) actor.Behavior[word] {
			return behaviors.Receive(func(_ *actor.Context[word], w word) actor.Behavior[word] {
				if w.Text == "go on" {
					return st.UnstashAll(clerk(nothing))
				}
				return st.Stash(w)
			})
		}), "", actor.WithKind("stasher"))
		stasher.TellContext(ctx, word{Text: "later"})
		stasher.Tell(word{Text: "go on"})
		_ = front
	})
}

func TestATimerBeginsATraceThatIsLinked(t *testing.T) {
	traced(t, `
		caller
		  process front
		process front ~ process front
		`, func(ctx context.Context, s *actor.System) {
		actor.Spawn(s, clerk(func(ctx *actor.Context[word], w word) {
			if w.Text == "begin" {
				ctx.Every("again", time.Second, word{Text: "tick"})
			}
		}), "", actor.WithKind("front")).TellContext(ctx, word{Text: "begin"})
		time.Sleep(3 * time.Second)
	})
}

func TestRoutersAndTopicsPassTheTraceOn(t *testing.T) {
	traced(t, `
		caller
		  process otel_test.word
		    process routee
		  process pool
		  process subscriber
		  process subscriber
		`, func(ctx context.Context, s *actor.System) {
		routee := actor.Spawn(s, router.Pool(1, behaviors.Setup(func(ctx *actor.Context[word]) actor.Behavior[word] {
			own := actor.Spawn(ctx, clerk(nothing), "", actor.WithKind("routee"))
			return clerk(func(ctx *actor.Context[word], w word) { own.TellContext(ctx, w) })
		})), "", actor.WithKind("pool"))
		_ = routee
		words := topic.New[word]("words")
		for range 2 {
			words.Subscribe(s, actor.Spawn(s, clerk(nothing), "", actor.WithKind("subscriber")))
		}
		words.PublishContext(ctx, s, word{Text: "a"})
		routee.TellContext(ctx, word{Text: "b"})
	})
}

func TestADeliveryKeepsTheTraceAlsoWhenItIsRepeated(t *testing.T) {
	var mu sync.Mutex
	tries := 0
	traced(t, `
		caller
		  process delivery.Delivery[otel_test.word]
		  process delivery.Delivery[otel_test.word]
		`, func(ctx context.Context, s *actor.System) {
		worker := behaviors.Supervise(behaviors.Receive(func(ctx *actor.Context[delivery.Delivery[word]], d delivery.Delivery[word]) actor.Behavior[delivery.Delivery[word]] {
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries == 1 {
				return ctx.Fail(errors.New("the first time"))
			}
			d.Confirm()
			return behaviors.Same
		}), actor.Strategy{})
		producer := actor.Spawn(s, delivery.Producer[word](), "")
		consumer := actor.Spawn(s, delivery.Consumer(worker), "")
		producer.Tell(delivery.Connect[word]{Consumer: consumer})
		producer.TellContext(ctx, delivery.Send[word]{Message: word{Text: "a"}})
	})
}

func TestASpanHasTheErrorOfItsHandler(t *testing.T) {
	tr := traced(t, `
		caller
		  process fails
		  process panics
		`, func(ctx context.Context, s *actor.System) {
		actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[word], _ word) actor.Behavior[word] {
			return ctx.Fail(fmt.Errorf("no room: %w", actor.ErrMailboxFull))
		}), "", actor.WithKind("fails")).TellContext(ctx, word{})
		actor.Spawn(s, clerk(func(*actor.Context[word], word) { panic("lost") }), "", actor.WithKind("panics")).TellContext(ctx, word{})
	})
	for _, span := range tr.GetSpans() {
		switch span.Name {
		case "process fails":
			require.Contains(t, span.Attributes, attribute.String("error.type", "mailbox_full"))
			require.Equal(t, "no room: actor: mailbox is full", span.Status.Description)
		case "process panics":
			require.Contains(t, span.Status.Description, "panicked")
		}
	}
}

func TestWhatIsNotSampledCarriesNothing(t *testing.T) {
	tr := newTracing(sdk.WithSampler(sdk.NeverSample()))
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, otel.WithTracing(tr.provider))
		ctx, end := tr.root()
		defer end()
		front := actor.Spawn(s, clerk(func(ctx *actor.Context[word], _ word) {
			require.False(t, trace.SpanContextFromContext(ctx).IsValid())
		}), "")
		front.TellContext(ctx, word{})
		front.TellContext(context.Background(), word{})
		synctest.Wait()
	})
	require.Empty(t, tr.GetSpans())
}

func TestBaggageIsCarriedOnlyIfAskedForAndSmall(t *testing.T) {
	member, err := baggage.NewMember("tenant", "acme")
	require.NoError(t, err)
	bag, err := baggage.New(member)
	require.NoError(t, err)
	for _, c := range []struct {
		opts []otel.TracingOption
		want string
	}{
		{nil, ""},
		{[]otel.TracingOption{otel.WithBaggage(0)}, "acme"},
		{[]otel.TracingOption{otel.WithBaggage(len("tenant=acme") - 1)}, ""},
	} {
		tr := newTracing()
		synctest.Test(t, func(t *testing.T) {
			s := testkit.NewSystem(t, otel.WithTracing(tr.provider, c.opts...))
			ctx, end := tr.root()
			defer end()
			var got string
			actor.Spawn(s, clerk(func(ctx *actor.Context[word], _ word) {
				got = baggage.FromContext(ctx).Member("tenant").Value()
			}), "").TellContext(baggage.ContextWithBaggage(ctx, bag), word{})
			synctest.Wait()
			require.Equal(t, c.want, got)
		})
	}
}

func TestLinesOfAHandlerHaveTheIDsOfItsSpan(t *testing.T) {
	tr := newTracing()
	core, lines := observer.New(zap.InfoLevel)
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, otel.WithTracing(tr.provider), actor.WithLogger(zap.New(core)))
		ctx, end := tr.root()
		defer end()
		front := actor.Spawn(s, clerk(func(ctx *actor.Context[word], _ word) { ctx.Log().Info("here") }), "front")
		front.TellContext(ctx, word{})
		front.Tell(word{})
		synctest.Wait()
	})
	span := tr.GetSpans()[0]
	require.Equal(t, map[string]any{
		"actor": "/user/front", "kind": "otel_test.word",
		"trace_id": span.SpanContext.TraceID().String(), "span_id": span.SpanContext.SpanID().String(),
	}, lines.All()[0].ContextMap())
	require.NotContains(t, lines.All()[1].ContextMap(), "trace_id")
}

func TestTracingNeedsAProvider(t *testing.T) {
	require.PanicsWithValue(t, "otel: WithTracing: the provider is nil", func() { otel.WithTracing(nil) })
}
