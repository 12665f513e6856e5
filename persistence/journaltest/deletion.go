package journaltest

import (
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var deletionLaws = []law{
	{"DeletedRecordsAreGoneAndTheNumbersGoOn", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 10)...)
		require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 4))
		records := e.read(j, "x", 1, everything)
		require.Len(e, records, 6)
		require.Equal(e, uint64(5), records[0].Seq)
		require.Empty(e, e.read(j, "x", 1, 4))
		w.append("next")
		require.Equal(e, uint64(11), e.read(j, "x", 11, 11)[0].Seq)
		claim := e.writer(j, "x").claim
		require.Equal(e, uint64(11), claim.LastSeq)
		require.Equal(e, uint64(4), claim.DeletedTo)
	}},
	{"DeletingBeyondTheLastDeletesAllThereIs", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 10)...)
		require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, everything))
		require.Empty(e, e.read(j, "x", 1, everything))
		w.append("next")
		require.Equal(e, []string{"next"}, e.payloads(j, "x"))
		claim := e.writer(j, "x").claim
		require.Equal(e, uint64(11), claim.LastSeq)
		require.Equal(e, uint64(10), claim.DeletedTo)
	}},
	{"DeletionNeverGoesBack", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 10)...)
		for _, seq := range []uint64{5, 3, 0, 5} {
			require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, seq))
			require.Len(e, e.read(j, "x", 1, everything), 5)
		}
	}},
	{"ManyRecordsAreDeletedWithTheirTags", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		other := e.writer(j, "y")
		for range 25 {
			req := w.next(numbered("e", 100)...)
			for i := range req.Records {
				req.Records[i].Tags = []string{"red", "blue"}
			}
			require.NoError(e, w.try(req))
			w.last += 100
			other.append("y")
		}
		require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 2450))
		require.Len(e, e.read(j, "x", 1, everything), 50)
		require.Len(e, e.read(j, "y", 1, everything), 25)
	}},
	{"AReadDuringADeletionHasNoGap", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 3000)...)
		next := uint64(1)
		for r, err := range j.Read(e.Context(), "x", 1, everything) {
			if err != nil {
				require.ErrorIs(e, err, journal.ErrUnavailable)
				break
			}
			require.Equal(e, next, r.Seq)
			if next++; r.Seq == 10 {
				require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 2900))
			}
		}
		require.Len(e, e.read(j, "x", 1, everything), 100, "a new read begins after what was deleted")
	}},
}
