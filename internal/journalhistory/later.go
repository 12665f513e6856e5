package journalhistory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A LaterStore is a store in which the history can be kept with what the second version added.
type LaterStore interface {
	Store
	journal.Forgetter
	journal.Retainer
}

const (
	forgotten = "account-4" // an id that was forgotten
	revived   = "account-5" // an id that was forgotten and revived
)

func reader(s Store, t testing.TB) journal.Reader {
	t.Helper()
	slice := journal.SliceOf(whole)
	r := journal.Reader{Name: "größer/0", Slices: journal.SliceRange{From: slice, To: slice + 1}, Time: begin}
	for e, err := range s.Events(t.Context(), journal.Query{}, "") {
		require.NoError(t, err)
		if e.ID == whole && e.Record.Seq == 2 {
			r.Offset = e.Offset
		}
	}
	require.NotEmpty(t, r.Offset)
	return r
}

// WriteLater adds forgotten ids and a reader to the history that Write has stored.
func WriteLater(t testing.TB, s LaterStore) {
	t.Helper()
	for _, id := range []string{forgotten, revived} {
		appendTo(t, s, id, claim(t, s, id, journal.Bounds{}), records()[:1])
		require.NoError(t, s.Forget(t.Context(), id))
	}
	require.NoError(t, s.Revive(t.Context(), revived))
	require.NoError(t, s.SaveReader(t.Context(), reader(s, t)))
}

// RequireLater requires that s has what WriteLater has added. It comes after Require.
func RequireLater(t testing.TB, s LaterStore) {
	t.Helper()
	readers, err := s.Readers(t.Context())
	require.NoError(t, err)
	want := reader(s, t)
	require.Equal(t, []journal.Reader{want}, readers)
	head, err := s.Head(t.Context(), whole)
	require.NoError(t, err)
	require.Equal(t, uint64(second+1), head.Epoch)
	var unread *journal.UnreadError
	require.ErrorAs(t, s.DeleteTo(t.Context(), whole, head.Epoch, 3), &unread)
	require.Equal(t, journal.UnreadError{Reader: want.Name, To: 2}, *unread)

	var tombstones []string
	for e, err := range s.Events(t.Context(), journal.Query{Tag: "small"}, "") {
		require.NoError(t, err)
		require.True(t, e.Forgotten())
		require.Equal(t, uint64(2), e.Record.Epoch)
		tombstones = append(tombstones, e.ID)
	}
	require.Equal(t, []string{forgotten, revived}, tombstones)
	_, err = s.Claim(t.Context(), forgotten, writer, journal.Bounds{})
	require.ErrorIs(t, err, journal.ErrForgotten)
	require.Equal(t, journal.Claim{Epoch: 3}, claim(t, s, revived, journal.Bounds{}))
}
