package sharding_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// readSoon reads an entity, and waits a few seconds at most.
func readSoon(t *testing.T, c *cluster.Client, typ string) (string, error) {
	ctx, cancel := contextFor(t, 4*time.Second)
	defer cancel()
	return actor.Ask(ctx, sharding.RefOf[note](c, typ, "a"), func(r actor.ActorRef[string]) note { return note{ReplyTo: r} })
}

func TestAClientUsesMembersThatHaveStartedTheType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		start := func(node, typ string) {
			_, err := sharding.Start(c.Node(node), typ, notebook, sharding.Shards(16))
			require.NoError(t, err)
		}
		start("n1", "one")
		start("n2", "two")
		start("n3", "two")
		client := c.Dial("client")
		for _, typ := range []string{"one", "two"} {
			got, err := readSoon(t, client, typ)
			require.NoError(t, err, typ)
			require.Equal(t, "a:", got)
		}

		_, err := readSoon(t, client, "late")
		require.ErrorContains(t, err, `no member that can be reached has started type "late"; call Start on the nodes`)
		go func() {
			time.Sleep(time.Second)
			start("n3", "late")
		}()
		got, err := readSoon(t, client, "late")
		require.NoError(t, err)
		require.Equal(t, "a:", got)

		c.Kill("n2")
		time.Sleep(10 * time.Second)
		_, err = readSoon(t, client, "two")
		require.NoError(t, err)
	})
}
