package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestABitFlipNeverDeliversAWrongEvent(t *testing.T) {
	damageEverywhere(t, func(file []byte, rng *rand.Rand) {
		bit := rng.IntN(8 * len(file))
		file[bit/8] ^= 1 << (bit % 8)
	})
}

func TestAZeroedSectorNeverDeliversAWrongEvent(t *testing.T) {
	damageEverywhere(t, func(file []byte, rng *rand.Rand) {
		sector := 512 * rng.IntN(len(file)/512)
		clear(file[sector:][:512])
	})
}

// damageEverywhere damages copies of a journal in many places. Reading each copy must return what
// was written, or an error. Only a whole id may be unknown, because no other data refers to it.
func damageEverywhere(t *testing.T, damage func([]byte, *rand.Rand)) {
	original, want := someJournal(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	outcomes := map[string]int{}
	for range 50 {
		file := slices.Clone(original)
		damage(file, rng)
		path := filepath.Join(t.TempDir(), "damaged.db")
		require.NoError(t, os.WriteFile(path, file, 0o600))
		outcomes[readDamaged(t, path, want)]++
	}
	t.Logf("outcomes: %v", outcomes)
}

func someJournal(t *testing.T) ([]byte, map[string][]string) {
	j := openTest(t)
	want := map[string][]string{}
	for i := range 8 {
		id := fmt.Sprintf("counter-%d", i)
		claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		req := journal.AppendRequest{ID: id, Epoch: claim.Epoch}
		for seq := range uint64(40) {
			payload := fmt.Sprintf("%s event %d, of some length", id, seq+1)
			want[id] = append(want[id], payload)
			req.Records = append(req.Records, journal.Record{Seq: seq + 1, Epoch: claim.Epoch, Type: "event", Payload: []byte(payload)})
		}
		require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{req})[0])
	}
	path := pathOf(j)
	require.NoError(t, j.Close())
	require.NoFileExists(t, path+"-wal", "all is in the one file")
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	return file, want
}

// readDamaged returns the worst result of reading the journal at path.
func readDamaged(t *testing.T, path string, want map[string][]string) string {
	j, err := Open(path)
	if err != nil {
		return "does not open"
	}
	defer j.Close()
	outcome := "no effect"
	for id, payloads := range want {
		got, err := readAll(t, j, id)
		require.Equal(t, payloads[:len(got)], got)
		switch {
		case err != nil:
			require.True(t, errors.Is(err, journal.ErrCorrupt) || errors.Is(err, journal.ErrUnavailable), "%v", err)
			outcome = "error"
		case len(got) < len(payloads):
			require.Empty(t, got, "%s lost its tail", id)
			outcome = "id is unknown"
		}
	}
	return outcome
}

func readAll(t *testing.T, j *Journal, id string) ([]string, error) {
	got := []string{}
	for r, err := range j.Read(t.Context(), id, 1, 1<<63) {
		if err != nil {
			return got, err
		}
		got = append(got, string(r.Payload))
	}
	return got, nil
}

func TestADamagedHeadIsAnError(t *testing.T) {
	for _, change := range []string{"seq = 1", "epoch = 0", "deleted_to = 1", "writer = zeroblob(15)"} {
		j := openTest(t)
		claim := appendSome(t, j, "x", 3)
		alter(t, pathOf(j), "UPDATE entity SET "+change)
		_, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.ErrorIs(t, err, journal.ErrCorrupt, change)
		_, err = readAll(t, j, "x")
		require.ErrorIs(t, err, journal.ErrCorrupt, change)
		require.ErrorIs(t, j.DeleteTo(t.Context(), "x", claim.Epoch, 1), journal.ErrCorrupt, change)
	}
}

func TestADamagedColumnIsAnError(t *testing.T) {
	for _, change := range []string{
		"sec = sec + 1", "nsec = -1", "type = 'other'", "tags = '[]'", "tags = '{'", "meta = '{}'", "meta = '[1]'",
		"writer = x'00'", "crc = -1", "crc = 1", "epoch = epoch + 1", "epoch = -1",
	} {
		j := openTest(t)
		appendSome(t, j, "x", 3)
		alter(t, pathOf(j), "UPDATE event SET "+change+" WHERE seq = 2")
		got, err := readAll(t, j, "x")
		require.ErrorIs(t, err, journal.ErrCorrupt, change)
		require.Len(t, got, 1)
	}
}

// Whatever number damage has left in a column, a reader of all events gets the others.
func TestADamagedColumnKeepsNoOtherEventFromItsReaders(t *testing.T) {
	for _, change := range []string{
		"seq = 0", "seq = -7", "eid = 99", "epoch = -9223372036854775808", "crc = 9223372036854775807", "crc = -1", "nsec = 9223372036854775807",
	} {
		j := openTest(t)
		appendSome(t, j, "x", 3)
		appendSome(t, j, "y", 1)
		alter(t, pathOf(j), "UPDATE event SET "+change+" WHERE seq = 2")
		var read []string
		damaged := 0
		for e, err := range j.Events(t.Context(), journal.Query{}, "") {
			require.NotEmpty(t, e.Offset, "%s: %v", change, err)
			if err != nil {
				require.ErrorIs(t, err, journal.ErrCorrupt, change)
				damaged++
				continue
			}
			read = append(read, string(e.Record.Payload))
		}
		require.Equal(t, 1, damaged, change)
		require.Equal(t, []string{"x 1", "x 3", "y 1"}, read, change)
	}
}

// A record beyond the end in the head makes an append fail halfway.
func TestARequestThatSpoilsTheTransactionDoesNotFailItsNeighbours(t *testing.T) {
	j := openTest(t)
	before, bad, after := appendSome(t, j, "before", 1), appendSome(t, j, "bad", 1), appendSome(t, j, "after", 1)
	alter(t, pathOf(j), "UPDATE event SET eid = (SELECT id FROM entity WHERE pid = 'bad'), seq = 3 WHERE eid = (SELECT id FROM entity WHERE pid = 'after')")
	alter(t, pathOf(j), "INSERT INTO event SELECT NULL, 3, 1, epoch, writer, sec, nsec, type, tags, meta, payload, crc FROM event WHERE seq = 3")

	errs := j.Append(t.Context(), []journal.AppendRequest{
		some("before", before.Epoch, 1, 3), some("bad", bad.Epoch, 1, 3), some("after", after.Epoch, 1, 3),
	})
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], journal.ErrCorrupt)
	require.NoError(t, errs[2])
	got, err := readAll(t, j, "before")
	require.NoError(t, err)
	require.Len(t, got, 4)
	got, err = readAll(t, j, "bad")
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func appendSome(t *testing.T, j *Journal, id string, n int) journal.Claim {
	t.Helper()
	claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{some(id, claim.Epoch, 0, n)})[0])
	return claim
}

func some(id string, epoch, prev uint64, n int) journal.AppendRequest {
	req := journal.AppendRequest{ID: id, Epoch: epoch, Prev: prev}
	for i := range uint64(n) {
		req.Records = append(req.Records, journal.Record{
			Seq: prev + i + 1, Epoch: epoch, Type: "event", Tags: []string{"red", "blue", "red"}, Meta: map[string]string{"k": "v"},
			Payload: fmt.Appendf(nil, "%s %d", id, prev+i+1),
		})
	}
	return req
}
