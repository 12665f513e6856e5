package clustertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func ticker() actor.Behavior[int] { return behaviors.Ignore }

func TestOneTickerThroughAPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 5) // nodes "n1" to "n5", all up
		census := testkit.NewCensus(t)
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
		}
		c.AwaitQuiet()
		require.Equal(t, 1, census.Running())

		c.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		time.Sleep(long(10 * time.Minute))
		require.Equal(t, 1, census.Running(), "only the majority side has one")
		require.Equal(t, 1, census.Peak(), "and there never were two")

		c.Heal()
		time.Sleep(time.Minute)
		require.Len(t, c.Node("n1").View().Members, 5)
		require.Equal(t, 1, census.Running())
	})
}
