package otel_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry/otel"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// spansOf returns the spans of one name, in the order in which they have ended.
func (tr tracing) spansOf(name string) (all []tracetest.SpanStub) {
	for _, s := range tr.GetSpans() {
		if s.Name == name {
			all = append(all, s)
		}
	}
	return all
}

// detailsOf returns the attributes of a span.
func detailsOf(s tracetest.SpanStub) map[string]string {
	details := map[string]string{}
	for _, a := range s.Attributes {
		details[string(a.Key)] = a.Value.AsString()
	}
	return details
}

// host spawns the singleton "clerk" on a node.
func host(c *clustertest.Cluster, name string, opts ...singleton.Option) actor.ActorRef[word] {
	return actor.Spawn(c.Node(name), behaviors.Singleton(func() actor.Behavior[word] { return clerk(answer) }, opts...), "clerk")
}

// answer answers a word that wants it.
func answer(_ *actor.Context[word], w word) {
	if w.ReplyTo != (actor.ActorRef[string]{}) {
		w.ReplyTo.Tell("yes")
	}
}

func TestAHandoverIsATraceWithTheLeaseInsideIt(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 2, tr)
		store := lease.NewMemory()
		for _, name := range []string{"n1", "n2"} {
			host(c, name, singleton.WithLease(store.Lease("clerk", name, 30*time.Second)))
		}
		c.AwaitQuiet()
		require.Equal(t, "lease.acquire\n", tr.trees(), "the first start is no hand-over")
		details := detailsOf(tr.spansOf("lease.acquire")[0])
		holder, _, _ := strings.Cut(details["understudy.lease.holder"], "#")
		require.Equal(t, "understudy://test@n1:7355/user/clerk", holder)
		delete(details, "understudy.lease.holder")
		require.Equal(t, map[string]string{
			"understudy.lease.name": "clerk of n1", "understudy.lease.outcome": "acquired", "understudy.singleton.name": "clerk",
		}, details)
		tr.Reset()
		c.Leave("n1")
		c.AwaitQuiet()
		require.Equal(t, tree(`
			singleton.handover
			  lease.acquire
			`), tr.trees())
		moved := tr.spansOf("singleton.handover")[0]
		require.Equal(t, map[string]string{
			"messaging.destination.name": "understudy://test@n2:7355/user/clerk", "understudy.singleton.name": "clerk", "understudy.singleton.reason": "hand-over",
			"understudy.singleton.from": "n1:7355", "understudy.singleton.to": "n2:7355", "understudy.singleton.generation": "2.1",
		}, detailsOf(moved))
		acquired := tr.spansOf("lease.acquire")[0]
		require.False(t, acquired.StartTime.Before(moved.StartTime))
		require.False(t, acquired.EndTime.After(moved.EndTime))
	})
}

func TestAFailoverLastsFromTheRemovalOfTheHostUntilTheInstanceRuns(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 3, tr)
		for _, name := range []string{"n1", "n2", "n3"} {
			host(c, name)
		}
		c.AwaitQuiet()
		require.Empty(t, tr.trees())
		c.Crash("n1")
		c.AwaitQuiet()
		require.Equal(t, "singleton.handover\n", tr.trees())
		moved := tr.spansOf("singleton.handover")[0]
		require.Equal(t, "failover", detailsOf(moved)["understudy.singleton.reason"])
		require.Equal(t, "n1:7355", detailsOf(moved)["understudy.singleton.from"])
		require.Greater(t, moved.EndTime.Sub(moved.StartTime), time.Second, "the margin for a removed node")
	})
}

func TestAHostThatHasLostItsLeaseTakesOverFromItself(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 1, tr)
		store := lease.NewMemory()
		host(c, "n1", singleton.WithLease(store.Lease("clerk", "n1", 30*time.Second)))
		c.AwaitQuiet()
		tr.Reset()
		store.Usurp("clerk", "somebody", 30*time.Second)
		time.Sleep(time.Minute)
		c.AwaitQuiet()
		moved := tr.spansOf("singleton.handover")
		require.Len(t, moved, 1)
		require.Equal(t, "restart", detailsOf(moved[0])["understudy.singleton.reason"])
		require.Equal(t, "n1:7355", detailsOf(moved[0])["understudy.singleton.from"])
		tried := tr.spansOf("lease.acquire")
		require.Equal(t, "held by another", detailsOf(tried[0])["understudy.lease.outcome"])
		require.Equal(t, "acquired", detailsOf(tried[len(tried)-1])["understudy.lease.outcome"])
		for _, s := range tried {
			require.Equal(t, moved[0].SpanContext.SpanID(), s.Parent.SpanID())
		}
	})
}

func TestAnAttemptToAcquireALeaseEndsWithTheErrorOfItsStore(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 1, tr)
		store := lease.NewMemory()
		store.SetOutage(errors.New("no route"))
		host(c, "n1", singleton.WithLease(store.Lease("clerk", "n1", 30*time.Second)))
		time.Sleep(time.Minute)
	})
	failed := tr.spansOf("lease.acquire")[0]
	require.Equal(t, "failed", detailsOf(failed)["understudy.lease.outcome"])
	require.Equal(t, codes.Error, failed.Status.Code)
	require.Contains(t, failed.Status.Description, "no route")
}

func TestAHandoverEndsWithTheErrorOfAnInstanceThatDoesNotStart(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 2, tr)
		host(c, "n1")
		tries := 0
		actor.Spawn(c.Node("n2"), behaviors.Singleton(func() actor.Behavior[word] {
			if tries++; tries == 1 {
				panic("no room")
			}
			return clerk(answer)
		}), "clerk")
		c.AwaitQuiet()
		c.Leave("n1")
		c.AwaitQuiet()
		require.Equal(t, 2, tries)
		moved := tr.spansOf("singleton.handover")
		require.Len(t, moved, 1, "the restart of the instance is no hand-over")
		require.Equal(t, codes.Error, moved[0].Status.Code)
		require.Contains(t, moved[0].Status.Description, "no room")
		require.NotContains(t, detailsOf(moved[0]), "understudy.singleton.generation")
	})
}

func TestAHandoverThatIsNotSampledHasNoSpan(t *testing.T) {
	tr := newTracing(sdk.WithSampler(sdk.NeverSample()))
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 2, tr)
		store := lease.NewMemory()
		for _, name := range []string{"n1", "n2"} {
			host(c, name, singleton.WithLease(store.Lease("clerk", name, 30*time.Second)))
		}
		c.AwaitQuiet()
		c.Leave("n1")
		c.AwaitQuiet()
	})
	require.Empty(t, tr.GetSpans())
}

// clerks are placed actors, with no state.
var clerks = placement.NewType[int, word]("clerk")

// withPlacement starts three nodes with placement, and places an actor on n2 or n3.
func withPlacement(t *testing.T, tr tracing) (c *clustertest.Cluster, at *placement.Coordinator, on string) {
	t.Helper()
	c = clustertest.Start(t, 3, func(name string, cfg *cluster.Config) {
		cfg.SystemOptions = append(cfg.SystemOptions, otel.WithTracing(tr.provider))
		if name != "n1" {
			cfg.Roles = []string{"worker"}
		}
	})
	cfg := placement.Config{
		Factories: []placement.Factory{clerks.Factory(func(int) actor.Behavior[word] { return clerk(answer) })},
	}
	for _, n := range c.Nodes() {
		coordinator, err := placement.Start(n, cfg)
		require.NoError(t, err)
		if n == c.Node("n1") {
			at = coordinator
		}
	}
	c.AwaitQuiet()
	d, err := at.Submit(t.Context(), clerks.Spec("clerks/1", 0).WithConstraints(placement.Constraints{Roles: []string{"worker"}}))
	require.NoError(t, err)
	time.Sleep(10 * time.Second)
	synctest.Wait()
	return c, at, d.Node
}

func TestTheMoveOfAPlacedActorIsATrace(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c, at, from := withPlacement(t, tr)
		require.Empty(t, tr.spansOf("placement.move"), "the first start is no move")
		c.Crash(from)
		time.Sleep(time.Minute)
		specs, err := at.Specs(t.Context())
		require.NoError(t, err)
		moved := tr.spansOf("placement.move")
		require.Len(t, moved, 1, tr.trees())
		require.False(t, moved[0].Parent.IsValid())
		require.False(t, moved[0].EndTime.Before(moved[0].StartTime))
		details := detailsOf(moved[0])
		require.NotEmpty(t, details["understudy.placement.instance"])
		delete(details, "understudy.placement.instance")
		require.Equal(t, map[string]string{
			"understudy.placement.spec": "clerks/1", "understudy.placement.cause": "node lost",
			"understudy.placement.from": from, "understudy.placement.to": specs[0].Node,
		}, details)
	})
}
