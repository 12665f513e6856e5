//go:build !quick

package clustertest_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A waitingRoom is a ref whose messages wait for ever, because nobody takes them.
type waitingRoom struct {
	ref         func(t *testing.T, c *clustertest.Cluster) actor.ActorRef[petition]
	room        int // messages that it keeps
	full, empty error
	why         string
}

func waitingRooms() map[string]waitingRoom {
	return map[string]waitingRoom{
		"entity, of a client": {func(_ *testing.T, c *clustertest.Cluster) actor.ActorRef[petition] {
			return sharding.RefOf[petition](c.Dial("visitor"), "offices", "a")
		}, sharding.DefaultBuffer, sharding.ErrBufferFull, sharding.ErrUnavailable, `no member that can be reached has started type "offices"`},
		"entity": {func(t *testing.T, c *clustertest.Cluster) actor.ActorRef[petition] {
			offices, err := sharding.Start(c.Node("n1"), "offices", func(sharding.Entity) actor.Behavior[petition] { return office() }, sharding.ProxyOnly(), sharding.Buffer(20))
			require.NoError(t, err)
			return offices.Ref("a")
		}, 20, sharding.ErrBufferFull, sharding.ErrUnavailable, "has no home yet"},
		"singleton, of a client": {func(_ *testing.T, c *clustertest.Cluster) actor.ActorRef[petition] {
			return singleton.Ref[petition](c.Dial("visitor").System, "office")
		}, singleton.DefaultBuffer, singleton.ErrBufferFull, singleton.ErrUnavailable, "no member that can be reached has a manager of office"},
		"singleton, of another node": {func(_ *testing.T, c *clustertest.Cluster) actor.ActorRef[petition] {
			return singleton.Ref[petition](c.Node("n1").System, "office")
		}, singleton.DefaultBuffer, singleton.ErrBufferFull, singleton.ErrUnavailable, "no member that can be reached has a manager of office"},
		"singleton": {func(_ *testing.T, c *clustertest.Cluster) actor.ActorRef[petition] {
			return actor.Spawn(c.Node("n1"), behaviors.Singleton(office, singleton.Role("nobody"), singleton.Buffer(20)), "office")
		}, 20, singleton.ErrBufferFull, singleton.ErrUnavailable, ""},
		"singleton, at least once": {func(_ *testing.T, c *clustertest.Cluster) actor.ActorRef[petition] {
			return actor.Spawn(c.Node("n1"), behaviors.Singleton(office, singleton.Role("nobody"), singleton.Buffer(20), singleton.AtLeastOnce(5)), "office")
		}, 20, singleton.ErrBufferFull, singleton.ErrUnavailable, ""},
		"placed actor": {func(_ *testing.T, c *clustertest.Cluster) actor.ActorRef[petition] {
			return placement.NewType[string, petition]("office").Ref(c.Node("n1").System, "office")
		}, 1000, placement.ErrBufferFull, placement.ErrUnavailable, "runs on no node that is known here"},
	}
}

func TestARequestWhoseAskHasEndedHoldsNoPlaceInABuffer(t *testing.T) {
	for name, room := range waitingRooms() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ref := room.ref(t, clustertest.Start(t, 1))
				time.Sleep(20 * time.Second)
				ref.Tell(petition{}) // the oldest message stays, and must hold up no other
				var asks sync.WaitGroup
				for range 3 * room.room { // two at a time
					asks.Go(func() {
						begun := time.Now()
						_, err := actor.AskTimeout(context.Background(), ref, 50*time.Millisecond, func(r actor.ActorRef[int]) petition { return petition{cheerful, r} })
						require.ErrorIs(t, err, context.DeadlineExceeded)
						require.ErrorIs(t, err, actor.ErrWithdrawn)
						require.ErrorIs(t, err, room.empty)
						require.NotErrorIs(t, err, room.full)
						require.ErrorContains(t, err, room.why)
						require.ErrorContains(t, err, "no reply after 50ms")
						require.Equal(t, 50*time.Millisecond, time.Since(begun))
					})
					time.Sleep(25 * time.Millisecond)
				}
				asks.Wait()
			})
		})
	}
}
