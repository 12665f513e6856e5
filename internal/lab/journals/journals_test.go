package journals_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/journals"
)

func TestAJournalIsAPathOrAURLOfAKnownScheme(t *testing.T) {
	errOpened := errors.New("opened")
	known := journals.Openers{"known": func(context.Context, string) (journals.Journal, error) { return nil, errOpened }}

	open, err := known.Of("known://host/db", "failover")
	require.NoError(t, err)
	_, err = open(t.Context(), "known://host/db")
	require.ErrorIs(t, err, errOpened)

	path := filepath.Join(t.TempDir(), "journal.db")
	open, err = known.Of(path, "failover")
	require.NoError(t, err)
	j, err := open(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.FileExists(t, path)
}

func TestAnUnknownSchemeIsRefusedWithTheCommandThatKnowsIt(t *testing.T) {
	_, err := journals.Openers(nil).Of("postgresql://me:secret@host/db", "failover")
	require.ErrorContains(t, err, "go -C internal/lab/postgres run ./failover -journal postgresql://…")
	require.NotContains(t, err.Error(), "secret")

	_, err = journals.Openers(nil).Of("mysql://host/db", "failover")
	require.ErrorContains(t, err, "-journal mysql://: unknown; it takes the path of an SQLite database, or postgres://… (go -C internal/lab/postgres run ./failover)")
}

func TestNoPasswordIsShown(t *testing.T) {
	require.Equal(t, "/tmp/journal.db", journals.Shown("/tmp/journal.db"))
	require.Equal(t, "postgres://me:xxxxx@host/db", journals.Shown("postgres://me:secret@host/db"))
	require.Equal(t, "postgres://…", journals.Shown("postgres://me:sec%ret@host/db"))
}
