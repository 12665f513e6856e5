package postgres_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
)

func appendSome(t testing.TB, j journal.Journal, id string, n int) *owner {
	t.Helper()
	o, err := own(j, id)
	require.NoError(t, err)
	require.NoError(t, appendOne(t, j, some(id, o.claim.Epoch, 0, n)))
	o.claim.LastSeq = uint64(n)
	return o
}

func readAll(t testing.TB, j journal.Journal, id string) (got []string, err error) {
	t.Helper()
	for r, err := range j.Read(t.Context(), id, 1, 1<<63) {
		if err != nil {
			return got, err
		}
		got = append(got, string(r.Payload))
	}
	return got, nil
}

func TestADamagedHeadIsAnError(t *testing.T) {
	s := pgtest.Shared(t)
	for _, change := range []string{"seq = 1", "seq = 4", "epoch = 0", "epoch = 2", "deleted_to = 1", "crc = crc # 1", "seq = -1"} {
		j := open(t, s)
		o := appendSome(t, j, "x", 3)
		alter(t, s, j.schema, "UPDATE understudy_entity SET "+change)
		_, err := readAll(t, j, "x")
		require.ErrorIs(t, err, journal.ErrCorrupt, change)
		require.ErrorIs(t, j.DeleteTo(t.Context(), "x", o.claim.Epoch, 1), journal.ErrCorrupt, change)
		require.ErrorIs(t, j.SaveSnapshot(t.Context(), "x", journal.Snapshot{Seq: 1, Epoch: o.claim.Epoch}), journal.ErrCorrupt, change)
		for range 2 {
			_, err = j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
			require.ErrorIs(t, err, journal.ErrCorrupt, change+": a claim does not mend it")
		}
	}
}

func TestADamagedColumnIsAnError(t *testing.T) {
	s := pgtest.Shared(t)
	for _, change := range []string{
		"sec = sec + 1", "nsec = -1", "type = 'other'", "tags = '{}'", "tags = '{red,red,blue}'", "meta = '{}'", "meta = '[1]'", "meta = NULL",
		"writer = '\\x00'", "crc = -1", "epoch = epoch + 1", "epoch = -1", "payload = ''",
	} {
		j := open(t, s)
		appendSome(t, j, "x", 3)
		alter(t, s, j.schema, "UPDATE understudy_event SET "+change+" WHERE seq = 2")
		got, err := readAll(t, j, "x")
		require.ErrorIs(t, err, journal.ErrCorrupt, change)
		require.Len(t, got, 1, change)
		var seqs []uint64
		for e, err := range j.Events(t.Context(), journal.Query{}, "") {
			seqs = append(seqs, e.Record.Seq)
			require.Equal(t, e.Record.Seq == 2, errors.Is(err, journal.ErrCorrupt), "%s: %v", change, err)
			require.Equal(t, "x", e.ID, change)
		}
		require.Equal(t, []uint64{1, 2, 3}, seqs, change)
	}
}

// A record beyond the end in the head makes the statement of a whole group fail.
func TestARequestThatSpoilsTheStatementDoesNotFailItsNeighbours(t *testing.T) {
	s := pgtest.Shared(t)
	j := open(t, s)
	before, bad, after := appendSome(t, j, "before", 1), appendSome(t, j, "bad", 1), appendSome(t, j, "last", 1)
	alter(t, s, j.schema, `INSERT INTO understudy_event
		SELECT pid, 3, epoch, writer, sec, nsec, type, tags, meta, payload, crc, slice, xid, 2 FROM understudy_event WHERE pid = 'bad'`)
	errs := j.Append(t.Context(), []journal.AppendRequest{
		some("before", before.claim.Epoch, 1, 3), some("bad", bad.claim.Epoch, 1, 3), some("last", after.claim.Epoch, 1, 3),
	})
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], journal.ErrCorrupt)
	require.NoError(t, errs[2])
	require.Len(t, payloads(t, j, "before"), 4)
	require.Len(t, payloads(t, j, "bad"), 1)
}
