package kubernetes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
)

func TestASingletonRunsWhereTheLeaseIsHeld(t *testing.T) {
	server := newAPIServer()
	singletonHolds(t, func() lease.Store { return newStore(t, server) })
}

// singletonHolds starts the node of a singleton twice. The first one releases the lease when it
// ends, so the second one need not wait until it expires.
func singletonHolds(t *testing.T, open func() lease.Store) {
	t.Helper()
	began := time.Now()
	for _, generation := range []string{"1.1", "2.1"} {
		l, err := lease.New(open(), "Visitors", "node", lease.Settings{TTL: time.Hour})
		require.NoError(t, err)
		system := actor.NewSystem("node")
		ref := actor.Spawn(system, behaviors.Singleton(generations, singleton.WithLease(l)), "visitors")
		answer, err := actor.Ask(t.Context(), ref, func(replyTo actor.ActorRef[string]) actor.ActorRef[string] { return replyTo })
		require.NoError(t, err)
		require.Equal(t, generation, answer)
		require.True(t, l.Valid())
		require.NoError(t, system.Shutdown(t.Context()))
		require.False(t, l.Valid())
	}
	require.Less(t, time.Since(began), time.Minute)
}

// generations answers every question with the generation of its instance.
func generations() actor.Behavior[actor.ActorRef[string]] {
	return behaviors.Receive(func(ctx *actor.Context[actor.ActorRef[string]], asker actor.ActorRef[string]) actor.Behavior[actor.ActorRef[string]] {
		asker.Tell(singleton.GenerationOf(ctx).String())
		return behaviors.Same
	})
}
