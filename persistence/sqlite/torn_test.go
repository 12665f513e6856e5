package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestATruncatedDatabaseNeverDeliversAWrongEvent(t *testing.T) {
	original, want := someJournal(t)
	rng := seeded(t)
	outcomes := map[string]int{}
	for i := range 50 {
		size := rng.IntN(len(original))
		if i%2 == 0 {
			size -= size % 512 // as file systems do it
		}
		path := filepath.Join(t.TempDir(), "truncated.db")
		require.NoError(t, os.WriteFile(path, original[:max(size, 1)], 0o600))
		outcomes[readDamaged(t, path, want)]++
	}
	t.Logf("outcomes: %v", outcomes)
	require.Zero(t, outcomes["no effect"])
}

// A torn write is a page with a new beginning and an old rest.
func TestATornPageNeverDeliversAWrongEvent(t *testing.T) {
	original, want := someJournal(t)
	const page = 4096
	rng := seeded(t)
	outcomes := map[string]int{}
	for range 50 {
		file := slices.Clone(original)
		from, to := rng.IntN(len(file)/page), rng.IntN(len(file)/page)
		sectors := 512 * (1 + rng.IntN(7))
		copy(file[to*page:][:sectors], original[from*page:])
		path := filepath.Join(t.TempDir(), "torn.db")
		require.NoError(t, os.WriteFile(path, file, 0o600))
		outcomes[readDamaged(t, path, want)]++
	}
	t.Logf("outcomes: %v", outcomes)
}

// After a crash of the machine, the write-ahead log rolls back damaged commits as a whole: the
// journal ends between two commits.
func TestATornWriteAheadLogEndsTheJournalBetweenTwoCommits(t *testing.T) {
	database, wal := someLog(t)
	rng := seeded(t)
	ends := map[int]int{}
	for i := range 60 {
		torn := slices.Clone(wal)
		switch at := rng.IntN(len(torn)); i % 3 {
		case 0:
			torn = torn[:at]
		case 1:
			clear(torn[at:])
		case 2:
			torn[at] ^= 1 << rng.IntN(8)
		}
		path := filepath.Join(t.TempDir(), "torn.db")
		require.NoError(t, os.WriteFile(path, database, 0o600))
		require.NoError(t, os.WriteFile(path+"-wal", torn, 0o600))
		j := openPath(t, path)
		require.NoError(t, j.Check(t.Context()))
		got, err := readAll(t, j, "x")
		require.NoError(t, err)
		for k, payload := range got {
			require.Equal(t, fmt.Sprintf("x %d", k+1), payload)
		}
		require.Zero(t, len(got)%3, "a commit of three is there or not")
		claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		require.EqualValues(t, len(got), claim.LastSeq)
		ends[len(got)]++
	}
	t.Logf("ends: %v", ends)
	require.Greater(t, len(ends), 5)
}

// someLog returns a database and a write-ahead log of twenty commits of three events.
func someLog(t *testing.T) (database, wal []byte) {
	t.Helper()
	j := openTest(t)
	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	for prev := uint64(0); prev < 60; prev += 3 {
		require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{some("x", claim.Epoch, prev, 3)})[0])
	}
	database, err = os.ReadFile(pathOf(j))
	require.NoError(t, err)
	wal, err = os.ReadFile(pathOf(j) + "-wal")
	require.NoError(t, err)
	return database, wal
}

func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}
