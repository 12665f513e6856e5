package singleton_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/singleton"
)

func durations(t *testing.T, n *node, name string) telemetry.Durations {
	t.Helper()
	for _, f := range telemetry.Gather(n.System) {
		if f.Name == name {
			return f.Series[0].Durations
		}
	}
	t.Fatalf("no family %s", name)
	return telemetry.Durations{}
}

const (
	handovers = "understudy_singleton_handover_seconds"
	outages   = "understudy_singleton_outage_seconds"
)

func TestTheFirstStartIsNeitherAHandOverNorTheEndOfAnOutage(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		onAll(c, parrot)
		settle()
		for _, n := range c.nodes {
			require.Zero(t, durations(t, n, handovers).Count)
			require.Zero(t, durations(t, n, outages).Count)
		}
	})
}

func TestTheOutageAfterACrashBeginsWhenTheHostIsLost(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		onAll(c, parrot)
		settle()
		c.crash("a")
		c.reachable(c.nodes["a"], false)
		time.Sleep(time.Minute)
		c.downed(c.nodes["a"])
		time.Sleep(margin + time.Second)
		require.Equal(t, singleton.Host, c.nodes["b"].status("one").Phase)
		outage := durations(t, c.nodes["b"], outages)
		require.Equal(t, uint64(1), outage.Count)
		require.InDelta(t, (time.Minute + margin).Seconds(), outage.Sum.Seconds(), 1)
		handover := durations(t, c.nodes["b"], handovers)
		require.Equal(t, uint64(1), handover.Count)
		require.InDelta(t, margin.Seconds(), handover.Sum.Seconds(), 1)
		require.Zero(t, durations(t, c.nodes["c"], outages).Count)
	})
}

func TestTheOutageOfARestartIsItsDelay(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		refs := onAll(c, mortal)
		settle()
		refs["b"].Tell(msg{Text: "fail"})
		time.Sleep(time.Minute)
		require.Equal(t, uint64(2), c.nodes["a"].status("one").Starts)
		outage := durations(t, c.nodes["a"], outages)
		require.Equal(t, uint64(1), outage.Count)
		require.Positive(t, outage.Sum)
		require.Less(t, outage.Sum, 2*time.Second)
		require.Zero(t, durations(t, c.nodes["a"], handovers).Count, "nobody had to be asked")
	})
}

func TestLeasesAreMeasuredAndTheirLossesCounted(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		l := leaseOnAll(c, parrot)
		settle()
		require.Equal(t, uint64(1), durations(t, c.nodes["a"], "understudy_lease_acquire_seconds").Count)
		time.Sleep(2 * ttl)
		renewals := durations(t, c.nodes["a"], "understudy_lease_renew_seconds").Count
		require.Greater(t, renewals, uint64(2))
		l.ways["a"].cut.Store(true)
		time.Sleep(2 * ttl)
		require.Greater(t, durations(t, c.nodes["a"], "understudy_lease_renew_seconds").Count, renewals)
		require.Equal(t, uint64(1), c.nodes["a"].status("one").LeaseLosses)
		require.Zero(t, c.nodes["b"].status("one").LeaseLosses)
		require.ErrorIs(t, c.nodes["a"].status("one").Obstacle, errCut)
	})
}

func TestAPlannedMoveIsAHandOverAndAShortOutage(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		onAll(c, parrot)
		settle()
		c.leave("a")
		settle()
		require.Equal(t, singleton.Host, c.nodes["b"].status("one").Phase)
		handover, outage := durations(t, c.nodes["b"], handovers), durations(t, c.nodes["b"], outages)
		require.Equal(t, uint64(1), handover.Count)
		require.Equal(t, uint64(1), outage.Count)
		require.LessOrEqual(t, outage.Sum, handover.Sum, "the former host serves until it has stopped")
		require.Less(t, handover.Sum, time.Second)
	})
}
