package otel_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry/otel"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

type noted struct{ Text string }

func init() { actor.RegisterType[noted]("otel_test.noted") }

// notebook is an event-sourced actor that stores the text of each word, and replies.
func notebook(j persistence.Journal) actor.Behavior[word] {
	return behaviors.EventSourced("notebook", j, 0,
		func(n int, _ noted) int { return n + 1 },
		func(_ *actor.Context[word], _ int, w word) persistence.Effect[noted] {
			return persistence.ThenReply(persistence.Persist(noted{w.Text}), w.ReplyTo, "stored")
		})
}

// tracedCluster starts nodes that trace, and whose singletons are named here.
func tracedCluster(t *testing.T, nodes int, tr tracing) *clustertest.Cluster {
	t.Helper()
	return clustertest.Start(t, nodes, func(_ string, cfg *cluster.Config) {
		cfg.SystemOptions = append(cfg.SystemOptions, otel.WithTracing(tr.provider))
	})
}

func TestOneTraceLeadsFromARequestOverASingletonAndItsJournalToAProjection(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 2, tr)
		j := journal.NewMemory()
		refs := map[string]actor.ActorRef[word]{}
		for _, name := range []string{"n1", "n2", "n3"}[:len(c.Nodes())] {
			refs[name] = actor.Spawn(c.Node(name), behaviors.Singleton(func() actor.Behavior[word] { return notebook(j) }), "notebook")
		}
		c.AwaitQuiet()
		tr.Reset() // the recovery
		front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, span := tr.provider.Tracer("front").Start(r.Context(), "GET /")
			defer span.End()
			answer, err := actor.Ask(ctx, refs["n2"], func(to actor.ActorRef[string]) word { return word{Text: "a", ReplyTo: to} })
			require.NoError(t, err)
			_, _ = w.Write([]byte(answer))
		})
		w := httptest.NewRecorder()
		front.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		require.Equal(t, "stored", w.Body.String())
		synctest.Wait()
		_, err := projection.New("texts", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{},
			func(context.Context, projection.Event[noted]) error { return nil })).CatchUp(t.Context())
		require.NoError(t, err)
		actor.Spawn(c.Node("n1"), projection.New("again", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{},
			func(context.Context, projection.Event[noted]) error { return nil })).Behavior(), "again")
		c.AwaitQuiet()
		require.Equal(t, tree(`
		GET /
		  ask otel_test.word
		    send
		      process otel_test.word
		        persist
		project again ~ persist
			`), strings.ReplaceAll(tr.trees(), "recover\n", ""), "the instance may recover late")
	})
}

func TestATraceSurvivesAHandoverAndAFailover(t *testing.T) {
	for name, gone := range map[string]func(c *clustertest.Cluster){
		"hand-over": func(c *clustertest.Cluster) { go c.Leave("n1") },
		"failover": func(c *clustertest.Cluster) {
			c.Crash("n1")
			time.Sleep(3 * time.Second) // it is unreachable, and not down yet
		},
	} {
		for kind, opts := range map[string][]singleton.Option{"buffered": nil, "at least once": {singleton.AtLeastOnce(10)}} {
			t.Run(name+", "+kind, func(t *testing.T) { askMeanwhile(t, gone, opts) })
		}
	}
}

// askMeanwhile asks a singleton while its host goes, and looks at the trace of that.
func askMeanwhile(t *testing.T, gone func(c *clustertest.Cluster), opts []singleton.Option) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 3, tr)
		j := journal.NewMemory()
		refs := map[string]actor.ActorRef[word]{}
		for _, name := range []string{"n1", "n2", "n3"} {
			refs[name] = actor.Spawn(c.Node(name), behaviors.Singleton(func() actor.Behavior[word] { return notebook(j) }, opts...), "notebook")
		}
		c.AwaitQuiet()
		status, _ := singleton.StatusOf(c.Node("n1").System, "notebook")
		require.True(t, status.Here)
		gone(c)
		ctx, end := tr.root()
		_, err := actor.AskTimeout(ctx, refs["n3"], time.Minute, func(to actor.ActorRef[string]) word { return word{Text: "b", ReplyTo: to} })
		require.NoError(t, err)
		end()
		c.AwaitQuiet()
		requireOneTrace(t, tr.trees()) // now, as the end of the cluster leads to more hand-overs
	})
}

func requireOneTrace(t *testing.T, trees string) {
	t.Helper()
	text, moved := strings.CutSuffix(strings.ReplaceAll(trees, "recover\n", ""), "singleton.handover\n")
	require.True(t, moved, trees)
	below, found := strings.CutPrefix(text, "caller\n  ask otel_test.word\n")
	require.True(t, found, text)
	for line := range strings.Lines(below) {
		require.True(t, strings.HasPrefix(line, "    "), text) // a message that is sent again has another span
	}
	require.Equal(t, 1, strings.Count(below, "process otel_test.word\n"), text)
	require.Equal(t, 1, strings.Count(below, "  persist\n"), text)
}
