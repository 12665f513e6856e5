package singleton_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func refusals(t *testing.T, s *actor.System) *testkit.Probe[singleton.Refused] {
	t.Helper()
	probe := testkit.NewProbe[singleton.Refused](t, s)
	actor.Subscribe(s, probe.Ref())
	return probe
}

func TestANodeIsToldWhichOfItsMessagesNoInstanceHandles(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		got := testkit.NewProbe[any](t, c.nodes["a"].System)
		refs := onAll(c, func() actor.Behavior[any] {
			return behaviors.Receive(func(_ *actor.Context[any], m any) actor.Behavior[any] {
				if m == any(numbered{"b", 0}) {
					panic("cannot handle zero")
				}
				got.Ref().Tell(m)
				return behaviors.Same
			})
		}, singleton.AtLeastOnce(3))
		settle()
		told := refusals(t, c.nodes["b"].System)
		for _, m := range []any{numbered{"b", 1}, numbered{"b", 0}, secret{3}, numbered{"b", 4}} {
			refs["b"].Tell(m)
		}
		time.Sleep(time.Hour)
		got.Expect(numbered{"b", 1})
		got.Expect(numbered{"b", 4})
		reasons := map[any]error{}
		for range 2 {
			r := told.Receive()
			require.Equal(t, "one", r.Name)
			reasons[r.Message] = r.Reason
		}
		told.ExpectNone(time.Hour)
		require.ErrorIs(t, reasons[numbered{"b", 0}], singleton.ErrGivenUp)
		require.ErrorContains(t, reasons[numbered{"b", 0}], "cannot handle zero")
		require.ErrorIs(t, reasons[secret{3}], actor.ErrNotSerializable)
		require.Zero(t, c.nodes["b"].status("one").Unacknowledged)

		own := refusals(t, c.nodes["a"].System)
		refs["a"].Tell(numbered{"b", 0})
		time.Sleep(time.Hour)
		require.ErrorIs(t, own.Receive().Reason, singleton.ErrGivenUp)
	})
}

func TestANodeIsToldThatTheHostTakesNoMessagesOfItsType(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		actor.Spawn(c.nodes["a"].System, behaviors.Singleton(parrot, singleton.AtLeastOnce(3)), "one")
		ref := actor.Spawn(c.nodes["b"].System, behaviors.Singleton(newLedger().keep(0), singleton.AtLeastOnce(3)), "one")
		settle()
		singleton.Advertise(c.nodes["a"].System, "one") // it does not say of which type
		settle()
		told := refusals(t, c.nodes["b"].System)
		ref.Tell(numbered{"b", 1})
		refused := told.Receive()
		require.Equal(t, numbered{"b", 1}, refused.Message)
		require.ErrorIs(t, refused.Reason, actor.ErrWrongType)
		require.ErrorIs(t, c.nodes["a"].deadLetters.Receive().Reason, actor.ErrWrongType)
		told.ExpectNone(time.Hour)
	})
}
