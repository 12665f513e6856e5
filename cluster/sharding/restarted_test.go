package sharding_test

import (
	"errors"
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

// startNotebooks starts the type on a node.
func startNotebooks(t *testing.T, n *cluster.Node) *sharding.Region[note] {
	r, err := sharding.Start(n, "notebook", notebook, sharding.Shards(16))
	require.NoError(t, err)
	return r
}

// The next process at the address of a node gets what is for the one before, and has not started
// the type yet.
func TestTheRequestOfAClientWaitsWhileANodeThatWasRestartedHasNotStartedTheType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 1)
		startNotebooks(t, c.Node("n1"))
		client := c.Dial("client")
		ref := sharding.RefOf[note](client, "notebook", "a")
		require.Equal(t, "a:", read(t, ref))
		n := c.Restart("n1")
		time.AfterFunc(5*time.Second, func() { startNotebooks(t, n) })
		err := readNow(t, ref)
		require.NotErrorIs(t, err, actor.ErrNoSuchActor)
		require.ErrorIs(t, err, actor.ErrUnreachable, "the node that has died may have had the request")
		began := time.Now()
		require.Equal(t, "a:", read(t, ref))
		require.Greater(t, time.Since(began), 4*time.Second)
	})
}

func TestTheRequestOfAClientGoesToAnotherNodeWhileOneThatWasRestartedHasNotStartedTheType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		for _, n := range c.Nodes() {
			startNotebooks(t, n)
		}
		time.Sleep(20 * time.Second)
		client := c.Dial("client")
		for _, name := range []string{"n1", "n2", "n3"} {
			require.Equal(t, "a:", read(t, sharding.RefOf[note](client, "notebook", "a")))
			n := c.Restart(name)
			time.AfterFunc(30*time.Second, func() { startNotebooks(t, n) })
			for i := range 100 {
				err := readNow(t, sharding.RefOf[note](client, "notebook", fmt.Sprint(i)))
				require.False(t, errors.Is(err, actor.ErrNoSuchActor) && !errors.Is(err, sharding.ErrUnavailable), "%v", err)
			}
			time.Sleep(time.Minute)
		}
	})
}

// readNow reads an entity, and waits a fraction of a second at most.
func readNow(t *testing.T, to actor.ActorRef[note]) error {
	_, err := actor.AskTimeout(t.Context(), to, 300*time.Millisecond, func(r actor.ActorRef[string]) note { return note{ReplyTo: r} })
	return err
}

// An ask of a node ends as if its entity could not be reached.
func TestWhatANodeThatWasRestartedRefusesIsUnavailable(t *testing.T) {
	for name, others := range map[string]bool{"it has started no type": false, "it has started another type": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 3)
				for _, n := range c.Nodes() {
					startNotebooks(t, n)
				}
				time.Sleep(20 * time.Second)
				r := startNotebooks(t, c.Node("n3"))
				for i := range 100 {
					require.NoError(t, errorOfRead(t, r.Ref(fmt.Sprint(i))))
				}
				refused := 0
				for _, name := range []string{"n1", "n2"} {
					c.Kill(name)
					added := make(chan *cluster.Node, 1)
					go func() { added <- c.Add(name) }()
					synctest.Wait()
					for i := range 100 {
						err := readNow(t, r.Ref(fmt.Sprint(i)))
						if errors.Is(err, actor.ErrNoSuchActor) {
							require.ErrorIs(t, err, sharding.ErrUnavailable)
							refused++
						}
					}
					n := <-added
					if others {
						_, err := sharding.Start(n, "other", notebook, sharding.Shards(16))
						require.NoError(t, err)
					}
					for i := range 100 {
						err := readNow(t, r.Ref(fmt.Sprint(i)))
						require.False(t, errors.Is(err, actor.ErrNoSuchActor) && !errors.Is(err, sharding.ErrUnavailable), "%v", err)
					}
					startNotebooks(t, n)
					time.Sleep(time.Minute)
				}
				require.Positive(t, refused)
			})
		})
	}
}

func errorOfRead(t *testing.T, to actor.ActorRef[note]) error {
	_, err := tryRead(t, to)
	return err
}
