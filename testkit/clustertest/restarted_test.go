//go:build !quick

package clustertest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// The next process at the address of a node gets what is for the one before, and has not spawned
// the singleton yet.
func TestARequestToASingletonWaitsWhileANodeThatWasRestartedHasNotSpawnedIt(t *testing.T) {
	for name, system := range map[string]func(c *clustertest.Cluster) *actor.System{
		"of a client":                     func(c *clustertest.Cluster) *actor.System { return c.Dial("client").System },
		"of a node without the singleton": func(c *clustertest.Cluster) *actor.System { return c.Add("other").System },
	} {
		t.Run(name, func(t *testing.T) {
			scenario(t, 1, func(t *testing.T, c *clustertest.Cluster) {
				actor.Spawn(c.Node("n1"), behaviors.Singleton(clerk), "clerk")
				ref := singleton.Ref[ticket](system(c), "clerk")
				handIn(t, ref, 1)
				n := c.Restart("n1")
				time.AfterFunc(20*time.Second, func() { actor.Spawn(n, behaviors.Singleton(clerk), "clerk") })
				for range 100 { // at first the node that has died may have had the request
					refusesNone(t, ref)
				}
				handIn(t, ref, 2)
			})
		})
	}
}

func TestARequestToASingletonGoesToAnotherNodeWhileOneThatWasRestartedHasNotSpawnedIt(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(clerk), "clerk")
		}
		ref := singleton.Ref[ticket](c.Dial("client").System, "clerk")
		for _, name := range []string{"n1", "n2", "n3"} {
			handIn(t, ref, 1)
			n := c.Restart(name)
			time.AfterFunc(30*time.Second, func() { actor.Spawn(n, behaviors.Singleton(clerk), "clerk") })
			for range 100 {
				refusesNone(t, ref)
			}
			time.Sleep(time.Minute)
		}
	})
}

// refusesNone asks, and waits a fraction of a second at most. No request may be refused other than
// as unavailable.
func refusesNone(t *testing.T, ref actor.ActorRef[ticket]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := hand(ctx, ref, 1)
	if errors.Is(err, actor.ErrNoSuchActor) {
		require.ErrorIs(t, err, singleton.ErrUnavailable)
	}
}

func TestWhatTheHubOfANodeThatWasRestartedRefusesIsUnavailable(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(clerk), "clerk")
		}
		ref := singleton.Ref[ticket](c.Node("n3").System, "clerk")
		handIn(t, ref, 1)
		c.Kill("n1")
		added := make(chan *cluster.Node, 1)
		go func() { added <- c.Add("n1") }()
		synctest.Wait()
		for range 500 {
			refusesNone(t, ref)
		}
		actor.Spawn(<-added, behaviors.Singleton(clerk), "clerk")
		time.Sleep(time.Minute)
		handIn(t, ref, 2)
	})
}
