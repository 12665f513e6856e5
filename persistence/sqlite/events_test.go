package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func readEvents(t *testing.T, j *Journal, q journal.Query, after journal.Offset) ([]journal.Entry, error) {
	t.Helper()
	var entries []journal.Entry
	for e, err := range j.Events(t.Context(), q, after) {
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Queries must search from the offset on, by an index, and sort nothing.
func TestEventsAreFoundByTheirKeys(t *testing.T) {
	j := openTest(t)
	slice := journal.SliceRange{From: 3, To: 9}
	for _, c := range []struct {
		query  journal.Query
		search string
	}{
		{journal.Query{}, "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		{journal.Query{Slices: slice}, "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		{journal.Query{Tag: "red"}, "SEARCH t USING PRIMARY KEY (tag=? AND ord>? AND ord<?)"},
		{journal.Query{Tag: "red", Slices: slice}, "SEARCH t USING PRIMARY KEY (tag=? AND ord>? AND ord<?)"},
	} {
		r, err := newReading(c.query, "sqlite:7")
		require.NoError(t, err)
		query, args := r.statement()
		rows, err := j.readers.Query("EXPLAIN QUERY PLAN "+query, args...)
		require.NoError(t, err)
		plan := ""
		for rows.Next() {
			var id, parent, unused int
			var detail string
			require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
			plan += detail + "\n"
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
		require.Contains(t, plan, c.search)
		require.NotContains(t, plan, "SCAN")
		require.NotContains(t, plan, "TEMP B-TREE")
	}
}

func TestAnOlderCopyRefusesOffsetsThatItDoesNotHave(t *testing.T) {
	j := openTest(t)
	claim := appendSome(t, j, "x", 3)
	backup := filepath.Join(t.TempDir(), "backup.db")
	alter(t, pathOf(j), "VACUUM INTO ?", backup)
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{some("x", claim.Epoch, 3, 2)})[0])

	restored := openPath(t, backup)
	got, err := readEvents(t, restored, journal.Query{}, "sqlite:2")
	require.NoError(t, err)
	require.Len(t, got, 1, "what it has keeps its offset")
	_, err = readEvents(t, restored, journal.Query{}, "sqlite:4")
	require.ErrorIs(t, err, journal.ErrInvalid)
	require.ErrorContains(t, err, "older copy")
}

func TestOffsetsAreNotGivenTwice(t *testing.T) {
	j := openTest(t)
	claim := appendSome(t, j, "x", 3)
	require.NoError(t, j.DeleteTo(t.Context(), "x", claim.Epoch, 3))
	alter(t, pathOf(j), "VACUUM")
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{some("x", claim.Epoch, 3, 1)})[0])
	got, err := readEvents(t, j, journal.Query{}, "sqlite:3")
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, journal.Offset("sqlite:4"), got[0].Offset)
}

func TestEventsThatWaitForTheirDeletionAreHidden(t *testing.T) {
	j := openTest(t)
	appendSome(t, j, "x", 3)
	h := head{id: "x", epoch: 1, seq: 3, deletedTo: 2}
	alter(t, pathOf(j), "UPDATE entity SET deleted_to = 2, writer = zeroblob(16), crc = ?", h.checksum())
	for _, q := range []journal.Query{{}, {Tag: "red"}} {
		got, err := readEvents(t, j, q, "")
		require.NoError(t, err)
		require.Len(t, got, 1)
	}
}

func TestTablesThatContradictEachOtherEndTheEvents(t *testing.T) {
	slice := journal.SliceRange{From: journal.SliceOf("x"), To: journal.SliceOf("x") + 1}
	for _, c := range []struct {
		damage string
		query  journal.Query
		says   string
	}{
		{"DELETE FROM entity", journal.Query{}, "belongs to no persistence id"},
		{"DELETE FROM entity", journal.Query{Slices: slice}, "belongs to no persistence id"},
		{"UPDATE event_tag SET tag = 'green' WHERE tag = 'red' AND ord = 2", journal.Query{Tag: "green"}, "which it has not"},
		{"UPDATE entity SET pid = 'y'", journal.Query{}, "fails its checksum"},
		{"UPDATE event SET seq = seq + 10", journal.Query{}, "fails its checksum"},
	} {
		j := openTest(t)
		appendSome(t, j, "x", 3)
		alter(t, pathOf(j), c.damage)
		_, err := readEvents(t, j, c.query, "")
		require.ErrorIs(t, err, journal.ErrCorrupt, c.damage)
		require.ErrorContains(t, err, c.says)
	}
}

func TestABitFlipNeverShowsAWrongEvent(t *testing.T) {
	original, want := someJournal(t)
	written := map[string]bool{}
	for _, payloads := range want {
		for _, p := range payloads {
			written[p] = true
		}
	}
	for i := range 50 {
		file := append([]byte{}, original...)
		bit := (8*len(file)/50)*i + 4321*i
		file[bit/8%len(file)] ^= 1 << (bit % 8)
		path := filepath.Join(t.TempDir(), "damaged.db")
		require.NoError(t, os.WriteFile(path, file, 0o600))
		j, err := Open(path)
		if err != nil {
			continue
		}
		entries, _ := readEvents(t, j, journal.Query{}, "") // damage may end the read
		for _, e := range entries {
			require.True(t, written[string(e.Record.Payload)], "%s", e.Record.Payload)
		}
		require.NoError(t, j.Close())
	}
}

func TestOneSliceIsReadWithoutTheOthers(t *testing.T) {
	j := openTest(t)
	for i := range 300 {
		appendSome(t, j, fmt.Sprint("id-", i), 2)
	}
	total := 0
	for _, s := range journal.Split(16) {
		entries, err := readEvents(t, j, journal.Query{Slices: s}, "")
		require.NoError(t, err)
		for _, e := range entries {
			require.True(t, s.Contains(journal.SliceOf(e.ID)))
		}
		total += len(entries)
	}
	require.Equal(t, 600, total)
}

// The reader of a quiet slice beside a busy one does not search the same events repeatedly, and
// finds later events.
func TestWhatWasSearchedInVainIsNotSearchedAgain(t *testing.T) {
	j := openTest(t)
	quiet := journal.Query{Slices: journal.SliceRange{From: journal.SliceOf("quiet"), To: journal.SliceOf("quiet") + 1}}
	claim := appendSome(t, j, "quiet", 1)
	appendSome(t, j, "busy", 3000)
	for _, after := range []journal.Offset{"", "sqlite:1"} {
		for range 2 {
			_, err := readEvents(t, j, quiet, after)
			require.NoError(t, err)
		}
	}
	require.Equal(t, map[search]int64{{quiet, 1}: 3001}, j.searches.upTo)
	require.Equal(t, int64(3001), j.searches.skip(quiet, 1))
	require.Equal(t, int64(1), j.searches.skip(journal.Query{}, 1))

	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{some("quiet", claim.Epoch, 1, 1)})[0])
	got, err := readEvents(t, j, quiet, "sqlite:1")
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, uint64(2), got[0].Record.Seq)
}
