package allot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/singleton"
)

func (r *rig) pin(node string, shards ...int) {
	r.do(SetPins{Token: 7, Type: "cart", Shards: shards, Node: node})
}

// replies returns the answers so far, and forgets them.
func (r *rig) replies() (all []home.Reply) {
	for _, e := range r.effects {
		if reply, ok := e.(home.Reply); ok {
			all = append(all, reply)
		}
	}
	r.effects = nil
	return all
}

func TestAPinnedShardGoesToItsNodeWhenThatHasCome(t *testing.T) {
	r := newRig(t)
	r.join("a", "b")
	r.pass(time.Minute)
	r.pin("c", 0, 1, 2)
	require.Equal(t, []home.Reply{{Token: 7}}, r.replies())
	require.Equal(t, map[string]int{"a": 4, "b": 4}, r.homes(), "they run where they can")
	e := r.m.Explain("cart", 1)
	require.Equal(t, "c", e.Pinned)
	require.Equal(t, "it is pinned to c, which is no member", e.Why)

	r.join("c")
	for n := range 3 {
		require.Equal(t, "c", r.on(n), "it goes there at once")
	}
	require.Equal(t, "it is pinned to c", r.m.Explain("cart", 1).Why)
	require.Equal(t, "Pinned", r.m.Explain("cart", 1).Strategy)
	require.Equal(t, map[int]string{0: "c", 1: "c", 2: "c"}, r.m.Pins("cart"))
}

func TestBalancingLeavesPinnedShardsWhereTheyAre(t *testing.T) {
	r := newRig(t)
	r.join("a", "b", "c")
	r.pin("a", 0, 1, 2, 3, 4)
	r.pass(5 * time.Minute)
	require.Equal(t, 5, r.homes()["a"])
	require.Equal(t, 3, r.homes()["b"]+r.homes()["c"], "the others have moved: %v", r.homes())
	require.LessOrEqual(t, r.homes()["b"], 2)
	for n := range 5 {
		require.Equal(t, "a", r.on(n))
	}
	r.pin("", 0, 1, 2, 3, 4)
	r.pass(5 * time.Minute)
	require.LessOrEqual(t, r.homes()["a"], 3, "%v", r.homes())
	require.Empty(t, r.m.Pins("cart"))
}

func TestAPinOutlivesItsNodeAndTheCoordinator(t *testing.T) {
	r := newRig(t)
	r.join("a", "b")
	r.pin("b", 3)
	require.Equal(t, "b", r.on(3))
	r.leave("b")
	require.Equal(t, "a", r.on(3))
	r.begin(2)
	r.pass(5 * time.Second)
	require.Equal(t, map[int]string{3: "b"}, r.m.Pins("cart"))
	r.join("b")
	require.Equal(t, "b", r.on(3))
}

func TestAShardOnAnUnreachableNodeStaysAlthoughItIsPinnedElsewhere(t *testing.T) {
	r := newRig(t)
	r.join("a", "b")
	r.pin("a", 0)
	r.nodes[0].Reachable = false
	r.view()
	r.pin("b", 0)
	require.Equal(t, "a", r.on(0))
	require.Equal(t, "it is pinned to b, but a, where it runs, is unreachable", r.m.Explain("cart", 0).Why)
	r.nodes[0].Reachable = true
	r.view()
	require.Equal(t, "b", r.on(0))
}

func TestAShardThatDoesNotExistCannotBePinned(t *testing.T) {
	r := newRig(t)
	r.join("a")
	r.pin("a", 0, 99)
	require.ErrorContains(t, r.replies()[0].Err, `knows no shard 99 of type "cart"`)
	require.Empty(t, r.m.Pins("cart"), "all or none")
}

func TestRecordsThatFitNothingAreRemoved(t *testing.T) {
	r := newRig(t)
	r.join("a")
	whole := r.stored.All()
	for _, key := range []string{ofShard + "pot/3", ofShard + "cart", ofType + "pot", "other/cart"} {
		r.stored = r.stored.With(home.Fact{Key: key, Record: &home.Record{Pin: "a", Generation: singleton.Generation{Term: 7}}})
	}
	r.m = New(r.m.cfg, r.stored)
	require.Equal(t, []string{"other/cart", "shard/cart", "shard/pot/3", "type/pot"}, r.m.Unfit)
	require.True(t, r.m.cfg.Forgetful, "it asks all nodes what they run")
	r.do(home.Recovered{})
	require.Equal(t, whole, r.stored.All())
}
