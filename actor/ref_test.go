package actor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestRefsOfOneActorAreEqualAndKeysOfAMap(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		a, b := actor.Spawn(s, obedient(), "a"), actor.Spawn(s, obedient(), "b")
		selves := testkit.NewProbe[actor.ActorRef[order]](t, s)
		a.Tell(do(func(ctx *actor.Context[order]) { selves.Ref().Tell(ctx.Self()) }))
		self := selves.Receive()
		require.True(t, same(a, self))
		require.False(t, same(a, b))
		names := map[actor.ActorRef[order]]string{a: "a", b: "b"}
		require.Equal(t, "a", names[self])
		anyNames := map[actor.AnyRef]string{a: "a", b: "b"}
		require.Equal(t, "a", anyNames[self])
	})
}

func TestARefPrintsItsPathAndANumberOfItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		old := actor.Spawn(s, obedient(), "x")
		old.Tell(stop)
		p.ExpectTerminated(old)
		successor := actor.Spawn(s, obedient(), "x")
		require.Equal(t, "understudy://test/user/x", successor.Path())
		require.True(t, strings.HasPrefix(successor.String(), successor.Path()+"#"))
		require.Equal(t, old.Path(), successor.Path())
		require.NotEqual(t, old.String(), successor.String())
		require.False(t, same(old, successor))
	})
}

func TestAnActorOfANodePrintsItsAddress(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding(), extension.WithTransport("10.0.0.1:7000", &wire{}))
	ref := actor.Spawn(s, behaviors.Ignore[int], "x")
	require.Equal(t, "understudy://test@10.0.0.1:7000/user/x", ref.Path())
}

func TestTheZeroRefIsNobodys(t *testing.T) {
	var zero actor.ActorRef[int]
	require.Empty(t, zero.Path())
	require.Empty(t, zero.String())
	require.True(t, same(zero, actor.ActorRef[int]{}))
	zero.Tell(1)
}
