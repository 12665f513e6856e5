package delivery

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALedgerStoresEveryConfirmationOnce(t *testing.T) {
	for range 100 {
		var g ledger
		g.load(7)
		stored := map[uint64]bool{}
		upTo := uint64(7)
		save := func() {
			var beyond []uint64
			before := upTo
			upTo, beyond = g.save()
			require.GreaterOrEqual(t, upTo, before)
			for n := before + 1; n <= upTo; n++ {
				stored[n] = true
			}
			for _, n := range beyond {
				require.Greater(t, n, upTo)
				require.False(t, stored[n])
				stored[n] = true
			}
			require.Zero(t, g.unstored())
		}
		for _, i := range rand.Perm(50) {
			first := 8 + 2*uint64(i)
			g.settle(first, first+1) // of two parts
			g.settle(first, first+1)
			require.NotZero(t, g.unstored())
			if rand.IntN(3) == 0 {
				save()
				require.True(t, stored[first])
			}
		}
		save()
		require.EqualValues(t, 107, upTo)
		require.False(t, g.Has(108))
		require.Len(t, stored, 100)
	}
}

// Another consumer has confirmed more, as the producer says, than the worker here, which is late.
func TestALateConfirmationTakesNothingBack(t *testing.T) {
	in := inbox{window: 10}
	in.begin(1, 6)
	in.Handled(3)
	require.Equal(t, uint64(5), in.UpTo())
	in.Handled(7)
	require.Equal(t, uint64(7), in.UpTo())
}
