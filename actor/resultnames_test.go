package actor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
)

type (
	replied int
	adapted int
	told    int
)

// A survey asks for results in all ways.
type survey struct {
	Replied actor.ActorRef[actor.Result[replied]]
	Adapted actor.ActorRef[actor.Result[adapted]]
	Told    actor.ActorRef[actor.Result[told]]
}

func init() {
	actor.RegisterType[replied]("test.replied")
	actor.RegisterType[adapted]("test.adapted")
	actor.RegisterType[told]("test.told")
	actor.RegisterType[survey]("test.survey")
}

// Another node sends results of types that this one has not sent before. It knows them once it has
// sent a ref that takes them.
func TestARefThatWasSentLetsItsResultsBeDecoded(t *testing.T) {
	names := []string{"result of test.replied", "result of test.adapted", "result of test.told"}
	for _, name := range names {
		_, err := codec.Decode(name, nil)
		require.ErrorAs(t, err, new(*codec.UnknownNameError), name)
	}
	inBubble(t, func(t *testing.T, s *actor.System) {
		told := actor.Spawn(s, behaviors.Ignore[actor.Result[told]], "told")
		desk := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[survey], m survey) actor.Behavior[survey] {
			m.Adapted, m.Told = actor.Adapt(ctx, func(actor.Result[adapted]) survey { return m }), told
			_, err := extension.Pack(m)
			m.Replied.Tell(actor.Result[replied]{Err: err})
			return behaviors.Same
		}), "desk")
		_, err := actor.AskResult(t.Context(), desk, func(r actor.ActorRef[actor.Result[replied]]) survey { return survey{Replied: r} })
		require.NoError(t, err)
	})
	for _, name := range names {
		_, err := codec.Decode(name, nil)
		require.ErrorAs(t, err, new(*codec.DecodeError), name)
	}
}
