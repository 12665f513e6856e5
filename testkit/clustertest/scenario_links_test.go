package clustertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// The minority downs itself, and the majority downs it, within D + S + 1 s. After the
// cut has healed, the downed nodes are back within 8 s.
func TestTheMinorityOfASplitGoesAndComesBack(t *testing.T) {
	scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		c.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		time.Sleep(detection + stableAfter + time.Second)
		whole(t, c, 0, "n3", "n4", "n5")
		require.Empty(t, c.Node("n1").View().Members)
		require.Empty(t, c.Node("n2").View().Members)
		time.Sleep(time.Minute)
		c.Heal()
		whole(t, c, 8*time.Second, named(5)...)
	})
}

// n1 receives all messages, but nothing from n1 arrives. It is downed, and learns of
// it, within D + S + 2 s.
func TestANodeThatHearsAndIsNotHeardGoes(t *testing.T) {
	scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		for _, other := range named(5)[1:] {
			c.OneWay("n1", other)
		}
		time.Sleep(detection + stableAfter + 2*time.Second)
		whole(t, c, 0, "n2", "n3", "n4", "n5")
		require.Empty(t, c.Node("n1").View().Members, "it does not take itself for a member")
		c.Heal()
		whole(t, c, 8*time.Second, named(5)...)
	})
}

// A node to which no message can be sent is unreachable, even if its datagrams arrive.
func TestANodeWhoseStreamsStallIsUnreachable(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		for _, other := range []string{"n1", "n2"} {
			c.Stall("n3", other)
			c.Stall(other, "n3")
		}
		time.Sleep(4 * time.Second)
		require.Empty(t, c.Node("n1").View().Unreachable(), "heartbeats come as datagrams")
		time.Sleep(2 * time.Second) // StreamDead is 5 s
		v := c.Node("n1").View()
		n3, _ := v.Member("n3")
		require.False(t, v.Reachable(n3))
		c.Heal()
		c.AwaitQuiet()
	})
}

func TestWithoutDatagramsNobodyIsUnreachable(t *testing.T) {
	scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		untouched(t, c, func() {
			c.Lose(1)
			time.Sleep(long(10 * time.Minute))
		})
		c.Crash("n5")
		time.Sleep(detection)
		require.Len(t, c.Node("n1").View().Unreachable(), 1, "streams tell as quickly")
		whole(t, c, stableAfter+time.Second, named(4)...)
		c.Add("n5")
		whole(t, c, 2*time.Second, named(5)...)
	})
}

func TestOneLinkWithoutDatagramsChangesNothing(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		untouched(t, c, func() {
			c.LoseBetween("n1", "n2", 1)
			time.Sleep(long(10 * time.Minute))
		})
	})
}

func TestAnHourOfLossConvictsNobody(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		untouched(t, c, func() {
			c.Lose(0.1)
			time.Sleep(long(time.Hour))
		})
	})
}

// Datagrams that are duplicated or reordered do no harm.
func TestDuplicatesAndReorderingConvictNobody(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		c.Delay(time.Millisecond, 30*time.Millisecond)
		time.Sleep(time.Minute) // the detector learns
		untouched(t, c, func() {
			c.Duplicate(0.5)
			time.Sleep(long(10 * time.Minute))
		})
	})
}

// With a strategy that waits indefinitely: while the link flaps, no node is downed,
// because nothing is stable. Afterwards the cluster is whole within 8 s.
func TestAFlappingCutGivesNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 5, func(_ string, cfg *cluster.Config) { cfg.Downing = downing.KeepMajority{KeepUnstable: true} })
		w, stop := watch(c.Node("n3"), named(5)...)
		for range 30 {
			c.Partition([]string{"n1"})
			time.Sleep(time.Second)
			c.Heal()
			time.Sleep(time.Second)
		}
		stop()
		require.Positive(t, w.unreachable["n1"], "it was noticed")
		require.Empty(t, w.removed)
		whole(t, c, 8*time.Second, named(5)...)
	})
}

func TestAPauseOfHalfASecondIsNotNoticed(t *testing.T) {
	scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		untouched(t, c, func() {
			c.Pause("n1")
			time.Sleep(500 * time.Millisecond)
			c.Resume("n1")
			time.Sleep(long(time.Minute))
		})
	})
}

// The node is unreachable, and then the same member again.
func TestAPauseOfTwoSecondsIsNoticedAndForgiven(t *testing.T) {
	scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		before := c.Node("n1").View().Self.ID()
		c.Pause("n1")
		time.Sleep(detection)
		require.NotEmpty(t, c.Node("n2").View().Unreachable())
		time.Sleep(2*time.Second - detection)
		c.Resume("n1")
		whole(t, c, detection, named(5)...)
		require.Equal(t, before, c.Node("n1").View().Self.ID())
	})
}

// Steps of the wall clock have no effect.
func TestACalendarThatIsSetWronglyChangesNothing(t *testing.T) {
	scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		untouched(t, c, func() {
			for _, d := range []time.Duration{time.Hour, -2 * time.Hour, time.Hour} {
				c.Jump("n1", d)
				time.Sleep(long(2 * time.Minute))
			}
		})
		c.Jump("n1", time.Hour)
		c.Jump("n2", -time.Hour)
		c.Crash("n5") // n1 dates its tombstone
		whole(t, c, detection+stableAfter+time.Second, named(4)...)
		c.Add("n5")
		whole(t, c, 2*time.Second, named(5)...)
	})
}

// Five percent is a thousand times the drift of real clocks.
func TestAClockThatDriftsConvictsNobodyAndFailsOverInTime(t *testing.T) {
	for rate, d := range map[float64]time.Duration{1.05: long(time.Hour), 0.95: long(10 * time.Minute)} {
		scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
			untouched(t, c, func() {
				c.Drift("n2", rate)
				time.Sleep(d)
			})
			c.Crash("n1")
			time.Sleep(detection + 50*time.Millisecond)
			require.NotEmpty(t, c.Node("n2").View().Unreachable())
			whole(t, c, stableAfter+time.Second, "n2", "n3")
		})
	}
}

// A drifting node gives its singletons times of the clock by which they measure.
func TestTheMarginOfAFailoverDoesNotDependOnTheClocksDrift(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		c.Drift("n2", 1.05)
		census := testkit.NewCensus(t)
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
		}
		c.AwaitQuiet()
		time.Sleep(long(20 * time.Minute)) // n2 is a minute ahead, in whole hours
		const margin = 13 * time.Second
		begin := time.Now()
		c.Crash("n1")
		time.Sleep(stableAfter + margin - time.Since(begin))
		require.Equal(t, 0, census.Running())
		time.Sleep(detection + spreading)
		require.Equal(t, 1, census.Running())
	})
}
