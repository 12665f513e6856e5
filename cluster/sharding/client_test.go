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

func TestAMessageToAnEntityOfATypeThatIsNotHereIsADeadLetterThatSaysWhatToCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		r, err := sharding.Start(c.Node("n1"), "notebook", notebook, sharding.Shards(16))
		require.NoError(t, err)
		path := r.Ref("a").String() // as messages carry it
		node, client := c.Node("n2").System, c.Dial("client")
		wantNoRegion := func(s *actor.System, advice string) {
			t.Helper()
			_, err := tryRead(t, actor.Resolve[note](s, path))
			require.ErrorIs(t, err, actor.ErrNoSuchActor)
			require.ErrorContains(t, err, advice)
		}
		onNode := `no region of type "notebook" on this node; call sharding.Start for it, with ProxyOnly`
		onClient := `no region of type "notebook" on this client; call sharding.RefOf for it`
		wantNoRegion(node, onNode)
		wantNoRegion(client.System, onClient)

		_, err = sharding.Start(c.Node("n2"), "other", notebook, sharding.Shards(16))
		require.NoError(t, err)
		sharding.RefOf[note](client, "other", "a")
		wantNoRegion(node, onNode)
		wantNoRegion(client.System, onClient)

		_, err = sharding.Start(c.Node("n2"), "notebook", notebook, sharding.Shards(16), sharding.ProxyOnly())
		require.NoError(t, err)
		sharding.RefOf[note](client, "notebook", "a")
		require.Equal(t, "a:", read(t, actor.Resolve[note](node, path)))
		require.Equal(t, "a:", read(t, actor.Resolve[note](client.System, path)))
	})
}
