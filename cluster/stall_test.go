package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/cluster/downing"
)

func TestWithDowningOffTheLogSaysOnceWhyNothingMoves(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		core, logs := observer.New(zap.WarnLevel)
		f.tune = func(c *Config) { c.Downing, c.Logger = downing.Manual{}, zap.New(core) }
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		logs.TakeAll()
		f.crash("n3")
		time.Sleep(time.Minute)
		leader, _ := f.nodes["n1"].View().Leader()
		require.Equal(t, "n1", leader.Name)
		require.Len(t, f.nodes["n1"].View().Members, 3, "n3 stays")
		said := logs.FilterMessage("waiting").All()
		require.NotEmpty(t, said)
		require.LessOrEqual(t, len(said), 2, "once by each node")
		require.Contains(t, said[0].ContextMap()["reason"], "n3 is unreachable (by n1, n2) and downing is manual")
		require.NoError(t, f.nodes["n2"].Down("n3"))
		f.await(2*time.Second, "n1", "n2")
		require.Empty(t, f.nodes["n1"].View().Waiting())
	})
}
