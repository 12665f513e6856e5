package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A node that leaves in order logs no warning. A node that is downed logs one with its former
// status, and each of the others logs one about it.
func TestTheLogTellsANodeThatLeavesFromOneThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := map[string]*observer.ObservedLogs{}
		c := clustertest.Start(t, 4, func(name string, cfg *cluster.Config) {
			core, of := observer.New(zap.InfoLevel)
			cfg.Logger, logs[name] = zap.New(core), of
		})
		c.Leave("n4")
		time.Sleep(time.Second)
		require.Equal(t, 1, logs["n4"].FilterMessage("node has left the cluster").FilterField(zap.String("member", "n4")).Len())
		for name, of := range logs {
			require.Zero(t, of.FilterMessage("membership lost").Len(), name)
			require.Zero(t, of.FilterLevelExact(zapcore.WarnLevel).Len(), name)
		}
		removed := logs["n1"].FilterMessage("member changed").FilterField(zap.Bool("left_in_order", true)).All()
		require.Len(t, removed, 1)
		require.Equal(t, "n4", removed[0].ContextMap()["member"])
		require.Contains(t, removed[0].ContextMap(), "up_number")

		c.Partition([]string{"n3"})
		time.Sleep(30 * time.Second)
		lost := logs["n3"].FilterMessage("membership lost").All()
		require.NotEmpty(t, lost)
		require.Equal(t, zapcore.WarnLevel, lost[0].Level)
		require.Equal(t, "up", lost[0].ContextMap()["status_before"])
		require.Zero(t, logs["n3"].FilterMessage("node has left the cluster").Len())
		unreachable := logs["n1"].FilterMessage("member unreachable").FilterField(zap.String("member", "n3")).All()
		require.Len(t, unreachable, 1)
		require.NotEmpty(t, unreachable[0].ContextMap()["unreachable_from"])
	})
}
