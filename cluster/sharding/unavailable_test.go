package sharding_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// askIn asks an entity for one reply, for 100 ms.
func askIn(t *testing.T, r *sharding.Region[note], id string) error {
	t.Helper()
	_, err := actor.AskTimeout(t.Context(), r.Ref(id), 100*time.Millisecond, func(to actor.ActorRef[string]) note { return note{ReplyTo: to} })
	return err
}

// The home of an entity crashes, and nobody asks for the entity until long after that.
func TestAnAskLongAfterACrashSaysWhenItsNodeLearntOfTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		regions := map[string]*sharding.Region[note]{}
		for _, n := range c.Nodes() {
			r, err := sharding.Start(n, "notebook", notebook, sharding.Shards(16))
			require.NoError(t, err)
			regions[n.View().Self.Name] = r
		}
		time.Sleep(5 * time.Second)
		id := ""
		for i := 0; id == ""; i++ {
			if at, err := regions["n3"].Explain(t.Context(), fmt.Sprint(i)); err == nil && at.Node == "n1" {
				id = fmt.Sprint(i)
			}
		}
		crashed := time.Now()
		c.Crash("n1")
		n3 := c.Node("n3")
		var learnt time.Time
		for learnt.IsZero() {
			time.Sleep(time.Millisecond)
			if len(n3.View().Unreachable()) > 0 {
				learnt = time.Now()
			}
		}
		err := askIn(t, regions["n3"], id)
		require.ErrorIs(t, err, sharding.ErrUnavailable)
		require.ErrorContains(t, err, "has its home on n1:7355, which cannot be reached")
		time.Sleep(time.Until(crashed.Add(cluster.Config{}.Expected().FailoverFenced)))
		err = askIn(t, regions["n3"], id)
		require.ErrorIs(t, err, sharding.ErrUnavailable)
		require.ErrorContains(t, err, "had its home on n1:7355, which has been removed")
		require.ErrorContains(t, err, "; unavailable since "+learnt.UTC().Format("15:04:05.00"))
	})
}

// A node that has never known a home of the shard says nothing of a time.
func TestAnAskOfAShardThatHasNeverHadAHomeNamesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 1)
		r, err := sharding.Start(c.Node("n1"), "notebook", notebook, sharding.ProxyOnly())
		require.NoError(t, err)
		time.Sleep(time.Minute)
		err = askIn(t, r, "a")
		require.ErrorIs(t, err, sharding.ErrUnavailable)
		require.ErrorContains(t, err, "has no home yet")
		require.NotContains(t, err.Error(), "since")
	})
}
