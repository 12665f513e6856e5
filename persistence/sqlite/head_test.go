package sqlite

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func appendOne(t *testing.T, j *Journal, epoch, prev uint64) error {
	t.Helper()
	return j.Append(t.Context(), []journal.AppendRequest{some("x", epoch, prev, 1)})[0]
}

func TestAHeadThatAnotherHandleHasMovedIsReadAgain(t *testing.T) {
	one := openTest(t)
	two := openPath(t, pathOf(one))
	claim, err := one.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.NoError(t, appendOne(t, one, claim.Epoch, 0))
	require.NoError(t, appendOne(t, two, claim.Epoch, 1))
	require.NoError(t, appendOne(t, one, claim.Epoch, 1), "it is a retry")
	require.NoError(t, appendOne(t, one, claim.Epoch, 2))

	_, err = two.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.ErrorIs(t, appendOne(t, one, claim.Epoch, 3), journal.ErrFenced)
}

func TestAHeadThatIsDamagedIsNoticedByTheNextAppend(t *testing.T) {
	for _, damage := range []string{"seq = seq + 1", "deleted_to = 1", "epoch = 7", "crc = crc + 1"} {
		j := openTest(t)
		claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		require.NoError(t, appendOne(t, j, claim.Epoch, 0))
		alter(t, pathOf(j), "UPDATE entity SET "+damage)
		require.ErrorIs(t, appendOne(t, j, claim.Epoch, 1), journal.ErrCorrupt, damage)
	}
}

// Heads from a transaction that was rolled back are not used.
func TestHeadsAreForgottenWithTheirTransaction(t *testing.T) {
	j := openTest(t)
	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	restore := features.Fill(t, j)
	prev := uint64(0)
	for ; err == nil; prev++ {
		err = appendOne(t, j, claim.Epoch, prev)
	}
	require.ErrorIs(t, err, journal.ErrFull)
	restore()
	require.NoError(t, appendOne(t, j, claim.Epoch, prev-1))
	require.ErrorIs(t, appendOne(t, j, claim.Epoch, prev+1), journal.ErrConflict)
}

func TestHeadsAreBounded(t *testing.T) {
	known := heads{}
	for i := range headsKept + 1 {
		known.keep(head{id: fmt.Sprint(i)})
		known.keep(head{id: fmt.Sprint(i), seq: 1})
	}
	require.Greater(t, len(known), headsKept/2)
	require.LessOrEqual(t, len(known), headsKept)
	require.Equal(t, head{id: fmt.Sprint(headsKept), seq: 1}, known[fmt.Sprint(headsKept)], "the newest is kept")
}
