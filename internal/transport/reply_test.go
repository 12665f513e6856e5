package transport_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
)

// A nameless type is not registered.
type nameless struct{ Number int }

// A withdrawal asks for something, and for a reply of some type.
type withdrawal struct {
	Nameless actor.ActorRef[nameless]
	Refused  actor.ActorRef[actor.Result[nameless]]
	Granted  actor.ActorRef[actor.Result[question]]
	Basic    actor.ActorRef[actor.Result[int]]
}

func init() { actor.RegisterType[withdrawal]("transport_test.withdrawal") }

// A reply that could not be sent back is found before the request is sent: after it, something may
// have been stored. A result may be sent if its value may.
func TestWhatAReplyCannotCarryIsFoundBeforeTheRequestIsSent(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		handled := 0
		actor.Spawn(b.sys, receive(func(w withdrawal) {
			handled++
			w.Nameless.Tell(nameless{1})
			w.Refused.Tell(actor.Result[nameless]{})
			w.Granted.Tell(actor.Result[question]{Value: question{Number: 7}})
			w.Basic.Tell(actor.Result[int]{Value: 8})
		}), "bank")
		bank := ref[withdrawal](a, b, "/user/bank")
		_, err := actor.Ask(t.Context(), bank, func(r actor.ActorRef[nameless]) withdrawal { return withdrawal{Nameless: r} })
		require.ErrorIs(t, err, actor.ErrNotSerializable)
		require.ErrorContains(t, err, "the reply: type transport_test.nameless is not registered; add to an init function: actor.RegisterType[transport_test.nameless]")
		_, err = actor.AskResult(t.Context(), bank, func(r actor.ActorRef[actor.Result[nameless]]) withdrawal { return withdrawal{Refused: r} })
		require.ErrorIs(t, err, actor.ErrNotSerializable)
		soon()
		require.Zero(t, handled)

		granted, err := actor.AskResult(t.Context(), bank, func(r actor.ActorRef[actor.Result[question]]) withdrawal { return withdrawal{Granted: r} })
		require.NoError(t, err)
		require.Equal(t, 7, granted.Number)
		basic, err := actor.AskResult(t.Context(), bank, func(r actor.ActorRef[actor.Result[int]]) withdrawal { return withdrawal{Basic: r} })
		require.NoError(t, err)
		require.Equal(t, 8, basic)
		require.Equal(t, 2, handled)
	})
}
