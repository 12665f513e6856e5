//go:build !quick

package clustertest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// murmer: edge clients see only the actors that are public.
func TestAClientDoesNotReachAPrivateActorAndLearnsWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2, func(_ string, cfg *cluster.Config) {
			cfg.ClientsReach = func(path string) bool { return strings.HasPrefix(path, "/user/public-") }
		})
		n1, n2 := c.Node("n1"), c.Node("n2")
		private, public := actor.Spawn(n1, clerk(), "clerk"), actor.Spawn(n1, clerk(), "public-clerk")
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(clerk), "manager")
			actor.Spawn(n, behaviors.Singleton(clerk), "public-manager")
		}
		letters := testkit.NewProbe[actor.DeadLetter](t, n1.System)
		actor.Subscribe(n1.System, letters.Ref())
		client := c.Dial("client")
		time.Sleep(time.Second)
		at := func(ref actor.ActorRef[ticket]) actor.ActorRef[ticket] {
			return actor.Resolve[ticket](client.System, ref.String())
		}
		ask := func(ref actor.ActorRef[ticket]) error {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			begun := time.Now()
			_, err := hand(ctx, ref, 1)
			require.Less(t, time.Since(begun), time.Second, "it does not wait for the end of its context")
			return err
		}
		require.NoError(t, ask(at(public)))
		require.ErrorIs(t, ask(at(private)), remote.ErrPrivate)
		letter := letters.Receive()
		require.ErrorIs(t, letter.Reason, remote.ErrPrivate)
		require.Equal(t, private.String(), letter.Recipient)
		require.NoError(t, ask(singleton.Ref[ticket](client.System, "public-manager")))
		require.ErrorIs(t, ask(singleton.Ref[ticket](client.System, "manager")), remote.ErrPrivate)

		_, err := hand(t.Context(), actor.Resolve[ticket](n2.System, private.String()), 1)
		require.NoError(t, err, "nodes are not limited")
	})
}
