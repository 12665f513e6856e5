package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestANodeWithoutSeedsFoundsACluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.tune = func(c *Config) { c.Seeds = nil }
		begin := time.Now()
		f.start("n1")
		require.Less(t, time.Since(begin), time.Second)
		f.await(0, "n1")
	})
}

func TestNodesThatStartTogetherFormOneCluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2", "n3", "n4", "n5")
		f.await(3*time.Second, "n1", "n2", "n3", "n4", "n5")
		leader, _ := f.nodes["n3"].View().Leader()
		require.Equal(t, "n1", leader.Name)
	})
}

func TestNodesThatStartOneAfterTheOtherFormOneCluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		for _, name := range []string{"n1", "n2", "n3"} {
			f.start(name)
			time.Sleep(7 * time.Second)
		}
		f.await(0, "n1", "n2", "n3")
	})
}

func TestACrashedNodeIsRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		f.crash("n1")
		f.await(5*time.Second, "n2", "n3")
	})
}

func TestANodeLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		begin := time.Now()
		require.NoError(t, f.nodes["n1"].Leave(t.Context()))
		require.Less(t, time.Since(begin), 3*time.Second)
		delete(f.nodes, "n1")
		f.await(time.Second, "n2", "n3")
	})
}

func TestACutOfTenMinutesHeals(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		all := []string{"n1", "n2", "n3", "n4", "n5"}
		f.start(all...)
		f.await(3*time.Second, all...)
		f.net.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		time.Sleep(10 * time.Minute)
		f.await(0, "n3", "n4", "n5")
		require.Empty(t, f.nodes["n1"].View().Members)
		f.net.Heal()
		f.await(5*time.Second, all...)
	})
}

func TestANodeThatRestartsAtOnceReplacesItsFormerIncarnation(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		f.crash("n2")
		begin := time.Now()
		f.start("n2")
		f.await(3*time.Second, "n1", "n2", "n3")
		require.Less(t, time.Since(begin), 3*time.Second)
	})
}

func TestStartFailsWhenNobodyAnswersAndLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := Start(ctx, f.config("n2"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "founded by the first seed")
	})
}

func TestANodeOfAnotherClusterIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1")
		cfg := f.config("n2")
		cfg.Name = "other"
		_, err := Start(t.Context(), cfg)
		require.ErrorAs(t, err, new(*RefusedError))
		f.await(0, "n1")
	})
}
