package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestOpenSaysWhatIsWrongWithThePath(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	foreign := filepath.Join(dir, "foreign.db")
	alter(t, foreign, "CREATE TABLE mine (x)")
	newer := filepath.Join(dir, "newer.db")
	require.NoError(t, openPath(t, newer).Close())
	alter(t, newer, "PRAGMA user_version = 99")
	damaged := [2]string{filepath.Join(dir, "negative.db"), filepath.Join(dir, "zero.db")}
	for i, version := range []string{"-1", "0"} {
		require.NoError(t, openPath(t, damaged[i]).Close())
		alter(t, damaged[i], "PRAGMA user_version = "+version)
	}

	for _, c := range []struct {
		path string
		is   error
		says string
	}{
		{"", journal.ErrInvalid, "journal.NewMemory"},
		{":memory:", journal.ErrInvalid, "journal.NewMemory"},
		{filepath.Join(dir, "no", "such", "x.db"), journal.ErrUnavailable, "create it first"},
		{filepath.Join(dir, "foreign.db", "x.db"), journal.ErrUnavailable, "not a directory"},
		{dir, journal.ErrUnavailable, "must be a file"},
		{write("letter.txt", "Dear Sir or Madam, "+string(make([]byte, 4096))), ErrNotJournal, "choose another path"},
		{write("short.txt", "hello"), ErrNotJournal, "choose another path"},
		{foreign, ErrNotJournal, "another application"},
		{newer, ErrNewerSchema, fmt.Sprintf("it has version 99, this program knows %d", len(migrations))},
		{damaged[0], journal.ErrCorrupt, "version -1, which no journal has; restore a backup"},
		{damaged[1], journal.ErrCorrupt, "version 0, which no journal has; restore a backup"},
	} {
		_, err := Open(c.path)
		require.ErrorIs(t, err, c.is, c.path)
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, "open "+c.path)
	}
	content, err := os.ReadFile(filepath.Join(dir, "short.txt"))
	require.NoError(t, err)
	require.Equal(t, "hello", string(content), "what is not ours is left alone")
}

func TestAwkwardPathsAreOrdinaryFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "50%", "what?", "x#y", "a&b=c", "ünï", "%41", "'"} {
		openPath(t, filepath.Join(dir, name))
		require.FileExists(t, filepath.Join(dir, name))
	}
}

func TestALinkLeadsToTheSameLocks(t *testing.T) {
	dir := t.TempDir()
	openPath(t, filepath.Join(dir, "real.db"))
	require.NoError(t, os.Symlink("real.db", filepath.Join(dir, "link.db")))
	linked := openPath(t, filepath.Join(dir, "link.db"))
	require.Equal(t, "real.db", filepath.Base(linked.writer.path))
}

func TestCommitsAreSyncedUnlessProcessSafeIsChosen(t *testing.T) {
	for want, opts := range map[int][]Option{2: nil, 1: {ProcessSafe()}} {
		var synchronous int
		var mode string
		conn := openTest(t, opts...).writer.conn
		require.NoError(t, conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&synchronous))
		require.Equal(t, want, synchronous)
		require.NoError(t, conn.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode))
		require.Equal(t, "wal", mode)
	}
}

func TestAFileThatWasReplacedIsNotWrittenTo(t *testing.T) {
	j := openTest(t)
	path := pathOf(j)
	require.NoError(t, os.Rename(path, path+".moved"))
	_, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorContains(t, err, "deleted or replaced")
	require.NoError(t, os.Rename(path+".moved", path))
	_, err = j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
}

// A bubble ends only when all of its goroutines have.
func TestCloseLeavesNoGoroutineBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	synctest.Test(t, func(t *testing.T) {
		j, err := Open(path)
		require.NoError(t, err)
		_, err = j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		got, err := readAll(t, j, "x")
		require.NoError(t, err)
		require.Empty(t, got)
		require.NoError(t, j.Close())
	})
}

func TestWhoeverDoesNotLetGoOfTheLockBlocksNobodyForEver(t *testing.T) {
	j := openTest(t)
	release := features.Stall(t, j)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := j.Claim(ctx, "x", journal.WriterID{}, journal.Bounds{})
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	_, err = open(ctx, pathOf(j), config{synchronous: "FULL", log: zap.NewNop(), migrations: migrations})
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorContains(t, err, "another process does not stop writing")

	begin := time.Now()
	require.NoError(t, j.Close())
	require.Less(t, time.Since(begin), 5*grace)
	release()
}
