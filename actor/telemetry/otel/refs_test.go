package otel_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/telemetry/otel"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// askAndTell sends two words to a clerk, below the span of a caller. The answer shows that the
// clerk is there.
func (tr tracing) askAndTell(t *testing.T, to actor.ActorRef[word]) {
	t.Helper()
	tr.Reset()
	ctx, end := tr.root()
	_, err := actor.AskTimeout(ctx, to, time.Minute, func(to actor.ActorRef[string]) word { return word{ReplyTo: to} })
	require.NoError(t, err)
	to.TellContext(ctx, word{})
	time.Sleep(time.Second)
	synctest.Wait()
	end()
}

// twoWords is the trace of two words to a clerk on another node.
const twoWords = `
	caller
	  ask otel_test.word
	    send
	      process otel_test.word
	  send
	    process otel_test.word
	`

// dial connects a client that traces.
func (tr tracing) dial(c *clustertest.Cluster) *cluster.Client {
	return c.Dial("client", func(cfg *cluster.ClientConfig) {
		cfg.SystemOptions = append(cfg.SystemOptions, otel.WithTracing(tr.provider))
	})
}

func TestATraceLeadsFromAClientToASingleton(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 2, tr)
		host(c, "n1")
		host(c, "n2")
		c.AwaitQuiet()
		tr.askAndTell(t, singleton.Ref[word](tr.dial(c).System, "clerk"))
		require.Equal(t, tree(twoWords), tr.trees())
	})
}

func TestATraceLeadsFromAClientToAService(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 2, tr)
		key := receptionist.NewKey[word]("clerks")
		actor.Spawn(c.Node("n2"), behaviors.Discoverable(key, clerk(answer)), "clerk")
		c.AwaitQuiet()
		client := tr.dial(c)
		found, err := cluster.Lookup(t.Context(), client, key)
		require.NoError(t, err)
		require.Len(t, found.All(), 1)
		tr.askAndTell(t, found.Reachable()[0])
		require.Equal(t, tree(twoWords), tr.trees())
	})
}

func TestATraceLeadsToAPlacedActor(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c, _, _ := withPlacement(t, tr)
		tr.askAndTell(t, clerks.Ref(c.Node("n1").System, "clerks/1"))
		require.Equal(t, tree(twoWords), tr.trees())
	})
}

// A brokenSampler panics when a message is sent to another node.
type brokenSampler struct{ sdk.Sampler }

func (b brokenSampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if p.Name == "send" {
		panic("the sampler is broken")
	}
	return b.Sampler.ShouldSample(p)
}

func TestATracerThatPanicsLosesNoMessageBetweenNodes(t *testing.T) {
	tr := newTracing(sdk.WithSampler(brokenSampler{sdk.AlwaysSample()}))
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2, func(_ string, cfg *cluster.Config) {
			cfg.SystemOptions = append(cfg.SystemOptions, otel.WithTracing(tr.provider))
			cfg.Logger = zap.NewNop()
		})
		host(c, "n1")
		to := host(c, "n2")
		c.AwaitQuiet()
		tr.askAndTell(t, to)
		require.Equal(t, tree(`
			caller
			  ask otel_test.word
			    process otel_test.word
			  process otel_test.word
			`), tr.trees(), "the trace goes on without the spans that are missing")
	})
}

// A brokenExporter panics whenever a span ends.
type brokenExporter struct{ sdk.SpanProcessor }

func (brokenExporter) OnEnd(sdk.ReadOnlySpan) { panic("the exporter is broken") }

func TestAnExporterThatPanicsLosesNoMessage(t *testing.T) {
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(brokenExporter{sdk.NewSimpleSpanProcessor(newTracing())}))
	traced := newTracing()
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, otel.WithTracing(provider), actor.WithLogger(zap.NewNop()))
		ctx, end := traced.root()
		defer end()
		_, err := actor.AskTimeout(ctx, actor.Spawn(s, clerk(answer), ""), time.Second, func(to actor.ActorRef[string]) word { return word{ReplyTo: to} })
		require.NoError(t, err)
	})
}
