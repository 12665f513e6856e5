package storebench

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

type write struct{ to actor.ActorRef[uint64] }

// A written is the event of a recorder; its encoding has about as many bytes as [Payload].
type written struct{ Text string }

func init() { actor.RegisterType[written]("storebench.written") }

// recorder stores one event for each command, and answers how many events it has stored.
func recorder(id string, j journal.Journal) actor.Behavior[write] {
	text := string(Payload[:90])
	return persistence.New(id, j, uint64(0),
		func(n uint64, _ written) uint64 { return n + 1 },
		func(_ *actor.Context[write], n uint64, cmd write) persistence.Effect[written] {
			return persistence.ThenReply(persistence.Persist(written{text}), cmd.to, n+1)
		})
}

// ActorWriters returns writers that ask an event-sourced actor each. They wait for its answer,
// which it sends when the event is durable.
func ActorWriters(b *testing.B, j journal.Journal, n int) Writers {
	system := testkit.NewSystem(b, testkit.WithoutEncoding())
	w := make(Writers, n)
	for i := range w {
		ref := actor.Spawn(system, recorder(ID(i), j), "")
		w[i] = func() error {
			_, err := actor.Ask(b.Context(), ref, func(to actor.ActorRef[uint64]) write { return write{to} })
			return err
		}
	}
	var recovered sync.WaitGroup
	for _, next := range w {
		recovered.Go(func() { require.NoError(b, next()) })
	}
	recovered.Wait()
	return w
}
