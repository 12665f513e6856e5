package router

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

func refs(t *testing.T, n int) (all []actor.ActorRef[int]) {
	t.Helper()
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	for i := range n {
		all = append(all, actor.Resolve[int](s, fmt.Sprintf("understudy://test@n%d:7355/user/worker", i)))
	}
	return all
}

func TestTheSharesOfARingAreAlikeAndOneInNKeysMoves(t *testing.T) {
	const keys = 100_000
	ten := refs(t, 10)
	nine, all := newRing(ten[:9]), newRing(ten)
	shares, moved := map[actor.ActorRef[int]]int{}, 0
	for i := range keys {
		key := fmt.Sprint("key-", i)
		owner := all.of(key)
		shares[owner]++
		if before := nine.of(key); before != owner {
			moved++
			require.Equal(t, ten[9], owner, "a key moves to the new one only")
		}
	}
	for _, n := range shares {
		require.InDelta(t, keys/10, n, keys/10*0.35)
	}
	require.InDelta(t, keys/10, moved, keys/10*0.35)
}

func TestARingDoesNotDependOnTheOrderOfRoutees(t *testing.T) {
	all := refs(t, 3)
	require.Equal(t, newRing(all), newRing([]actor.ActorRef[int]{all[2], all[0], all[1]}))
}
