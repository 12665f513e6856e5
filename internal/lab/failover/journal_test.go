package failover

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAJournalIsAPathOrAURLOfAKnownScheme(t *testing.T) {
	errOpened := errors.New("opened")
	known := map[string]Opener{"known": func(context.Context, string) (Journal, error) { return nil, errOpened }}

	open, err := openerOf("known://host/db", known)
	require.NoError(t, err)
	_, err = open(t.Context(), "known://host/db")
	require.ErrorIs(t, err, errOpened)

	path := filepath.Join(t.TempDir(), "journal.db")
	open, err = openerOf(path, known)
	require.NoError(t, err)
	j, err := open(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.FileExists(t, path)
}

func TestAnUnknownSchemeIsRefusedWithTheCommandThatKnowsIt(t *testing.T) {
	_, err := openerOf("postgresql://me:secret@host/db", nil)
	require.ErrorContains(t, err, "go -C persistence/postgres run ./failover -journal postgresql://…")
	require.NotContains(t, err.Error(), "secret")

	_, err = openerOf("mysql://host/db", nil)
	require.ErrorContains(t, err, "-journal mysql://: unknown; it takes the path of an SQLite database, postgres://…")
}

func TestNoPasswordIsShown(t *testing.T) {
	require.Equal(t, "/tmp/journal.db", shown("/tmp/journal.db"))
	require.Equal(t, "postgres://me:xxxxx@host/db", shown("postgres://me:secret@host/db"))
	require.Equal(t, "postgres://…", shown("postgres://me:sec%ret@host/db"))
}

func TestEachRunCountsUnderAnIDOfItsOwn(t *testing.T) {
	first, second := newID(), newID()
	require.NotEqual(t, first, second)
}
