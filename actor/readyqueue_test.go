package actor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

func TestAReadyQueueKeepsTheOrderWhateverIsTakenAndPutBack(t *testing.T) {
	for seed := range effort.Count[uint64](20, 200, 2000) {
		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it is to be repeated
		var q readyQueue
		var want []*core
		for range 1000 {
			switch random.IntN(4) {
			case 0, 1:
				for range random.IntN(20) {
					c := new(core)
					q.push(c)
					want = append(want, c)
				}
			case 2:
				if len(want) == 0 {
					require.Nil(t, q.pop(), "seed %d", seed)
					break
				}
				require.Same(t, want[0], q.pop(), "seed %d", seed)
				want = want[1:]
			case 3:
				share := make([]*core, random.IntN(min(len(want), maxRunBatch)+1))
				q.move(share)
				require.True(t, slices.Equal(want[:len(share)], share), "seed %d", seed)
				if len(share) > 0 && random.IntN(2) == 0 {
					q.putBack(share)
				} else {
					want = want[len(share):]
				}
			}
			require.Equal(t, len(want), q.size, "seed %d", seed)
		}
		for _, c := range want {
			require.Same(t, c, q.pop(), "seed %d", seed)
		}
		require.Nil(t, q.pop(), "seed %d", seed)
	}
}

func TestAReadyQueueRetainsNobodyWhoHasGone(t *testing.T) {
	var q readyQueue
	for range 1000 {
		q.push(new(core))
	}
	q.move(make([]*core, 500))
	for range 500 {
		q.pop()
	}
	require.Nil(t, q.head.after)
	require.Equal(t, readyPiece{begin: q.head.begin, end: q.head.end}, *q.head)
	require.Equal(t, readyPiece{}, *q.spare)
}
