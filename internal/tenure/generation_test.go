package tenure_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/tenure"
)

// Unpack is the inverse of Packed, and packed numbers are ordered by term, then by sequence number.
func TestPackedGenerationsKeepTheirOrder(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	draw := func() tenure.Generation {
		return tenure.Generation{Term: uint64(rng.Uint32N(3)) * rng.Uint64N(math.MaxUint32+1) / 2, Seq: rng.Uint64N(math.MaxUint32 + 1)}
	}
	for range 1000 {
		g, h := draw(), draw()
		pg, err := g.Packed()
		require.NoError(t, err)
		ph, err := h.Packed()
		require.NoError(t, err)
		require.Equal(t, g.Less(h), pg < ph, "%v %v, seed %d", g, h, seed)
		require.Equal(t, h.Less(g), ph < pg, "%v %v, seed %d", g, h, seed)
		require.Equal(t, g, tenure.Unpack(pg))
	}
}

func TestAGenerationThatDoesNotFitIsAnErrorNotAWrap(t *testing.T) {
	for _, g := range []tenure.Generation{{Term: math.MaxUint32 + 1}, {Seq: math.MaxUint32 + 1}} {
		_, err := g.Packed()
		require.ErrorIs(t, err, tenure.ErrOverflow)
	}
}

func TestGenerationsAreComparedByTermFirst(t *testing.T) {
	ascending := []tenure.Generation{{Term: 1, Seq: 9}, {Term: 2}, {Term: 2, Seq: 1000000}, {Term: 3}}
	for i, g := range ascending {
		for j, h := range ascending {
			require.Equal(t, cmp.Less(i, j), g.Less(h))
		}
	}
	require.Equal(t, "2.1000000", ascending[2].String())
}
