package sqlite

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAJournalIsSoundAfterIDsAreForgotten(t *testing.T) {
	j := openTest(t)
	for _, id := range []string{"a", "b", "c"} {
		claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		for n := range uint64(100) {
			payload := []byte(strings.Repeat(id, rand.IntN(9000)))
			req := journal.AppendRequest{ID: id, Epoch: claim.Epoch, Prev: n, Records: []journal.Record{
				{Seq: n + 1, Epoch: claim.Epoch, Type: "t", Tags: []string{id, "all"}, Payload: payload},
			}}
			for _, key := range []string{"x", "y", "z"} {
				timer := journal.Timer{Key: key + strings.Repeat(id, rand.IntN(100)), Due: time.Unix(int64(n), 0), Payload: payload[:len(payload)/9]}
				req.Timers = append(req.Timers, journal.TimerChange{Timer: timer})
			}
			require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{req})[0])
			require.NoError(t, j.SaveSnapshot(t.Context(), id, journal.Snapshot{Seq: n + 1, Epoch: claim.Epoch, Payload: payload}))
		}
	}
	require.NoError(t, j.Forget(t.Context(), "b"))
	require.NoError(t, j.Check(t.Context()))
	require.NoError(t, j.Forget(t.Context(), "a"))
	require.NoError(t, j.Revive(t.Context(), "a"))
	require.NoError(t, j.Check(t.Context()))
	n := 0
	for r, err := range j.Read(t.Context(), "c", 1, 100) {
		require.NoError(t, err)
		require.Empty(t, bytes.Trim(r.Payload, "c"))
		n++
	}
	require.Equal(t, 100, n)
}

// A process that has the head of an id in memory does not write it after another one has forgotten
// it.
func TestAProcessThatKnowsTheHeadIsFenced(t *testing.T) {
	j := openTest(t)
	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	req := func(seq uint64) journal.AppendRequest {
		return journal.AppendRequest{ID: "x", Epoch: claim.Epoch, Prev: seq - 1, Records: []journal.Record{{Seq: seq, Epoch: claim.Epoch}}}
	}
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{req(1)})[0])
	require.NoError(t, openPath(t, pathOf(j)).Forget(t.Context(), "x"))
	require.ErrorIs(t, j.Append(t.Context(), []journal.AppendRequest{req(2)})[0], journal.ErrForgotten)
}

func TestOnlyUnusedSpaceOfTreePagesIsWiped(t *testing.T) {
	page := make([]byte, 4096)
	for i := range page {
		page[i] = 0xff
	}
	for kind, header := range map[byte]int{2: 12, 5: 12, 10: 8, 13: 8} {
		copy(page, []byte{kind, 0, 0, 0, 2, 0x0f, 0xf0, 0})
		got := wiped(page)
		require.Equal(t, page[:header+4], got[:header+4], "the header and the places of two cells")
		require.Empty(t, bytes.Trim(got[header+4:0xff0], "\x00"))
		require.Equal(t, page[0xff0:], got[0xff0:])
		require.Nil(t, wiped(got), "nothing is left to do")
	}
	for _, none := range [][]byte{nil, page[:100], make([]byte, 4096), append([]byte{13, 0, 0, 0xff, 0xff}, page[5:]...)} {
		require.Nil(t, wiped(none))
	}
}
