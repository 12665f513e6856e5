package jetstreamtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A damage is done to the file of a stream's messages while its server is stopped.
type damage struct {
	name string
	do   func(file []byte) []byte
}

var kindsOfDamage = []damage{
	{"a flipped bit", func(b []byte) []byte {
		at := rand.IntN(len(b))
		for framing(b, at) {
			at = rand.IntN(len(b))
		}
		b[at] ^= 1 << rand.IntN(8)
		return b
	}},
	{"a zeroed sector", func(b []byte) []byte {
		at := rand.IntN(len(b)/512) * 512
		clear(b[at : at+512])
		return b
	}},
	{"a torn end", func(b []byte) []byte { return b[:len(b)-1-rand.IntN(len(b)/2)] }},
}

// framing reports whether the byte at at belongs to the length of a message, four bytes at its
// beginning, or to its sequence number, the next eight. A server of version 2.15 that finds too
// great a number uses up all memory: it records each number in between as deleted.
func framing(file []byte, at int) bool {
	begin := 0
	for {
		length := int(binary.LittleEndian.Uint32(file[begin:]) &^ (1 << 31)) // that bit says: with headers
		if at < begin+length {
			return at < begin+12
		}
		begin += length
	}
}

// Reading a damaged store returns what was appended, or an error. If the server has dropped the end
// without a trace, the end is missing.
//
// A thousand times:
//
//	UNDERSTUDY_EFFORT=1000 go test -C internal/lab/jetstreamtest -run DamagedStore -v
func TestADamagedStoreIsNeverADifferentHistory(t *testing.T) {
	t.Parallel()
	s := newSpoiled(t, func(j *located) map[string][]string {
		want, writers := map[string][]string{}, map[string]*writer{}
		for i := range 120 {
			id := fmt.Sprint("id-", i%3)
			if i%40 < 3 {
				writers[id] = claim(t, j, id)
			}
			payload := fmt.Sprintf("event %d of %s %0100d", i, id, i)
			writers[id].append(t, payload)
			want[id] = append(want[id], payload)
		}
		for _, id := range []string{"id-0", "id-2"} { // the last message of id-1 has a record
			claim(t, j, id)
		}
		return want
	})
	counts := map[string]int{}
	for n := range effort.Count(12, 12, 100) {
		kind := kindsOfDamage[n%len(kindsOfDamage)]
		s.spoil(t, kind.do)
		j, err := s.open(t, false)
		if err != nil {
			require.ErrorIs(t, err, journal.ErrCorrupt)
			require.ErrorContains(t, err, "AcceptLoss")
			counts[kind.name+": the journal does not open"] += len(s.want)
			continue
		}
		for id, whole := range s.want {
			counts[kind.name+": "+history(t, j, id, whole)]++
		}
	}
	for _, result := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%s: %d", result, counts[result])
	}
}

func TestADamagedMessageIsAnErrorWhereverOthersOfItsIDAreLeft(t *testing.T) {
	t.Parallel()
	const events = 40
	s := newSpoiled(t, func(j *located) map[string][]string {
		want := map[string][]string{}
		for _, id := range []string{"first", "second"} {
			w := claim(t, j, id)
			for i := range events {
				payload := fmt.Sprintf("event %d of %s.", i+1, id)
				w.append(t, payload)
				want[id] = append(want[id], payload)
			}
		}
		return want
	})
	for _, seq := range []int{1, 2, events / 2, events - 1, events} {
		s.spoil(t, func(file []byte) []byte {
			at := bytes.Index(file, fmt.Appendf(nil, "event %d of first.", seq))
			file[at] ^= 1
			return file
		})
		j, err := s.open(t, false)
		require.NoError(t, err)
		require.Equal(t, s.want["second"], read(t, j, "second"))
		require.Equal(t, "found out", history(t, j, "first", s.want["first"]), "record %d", seq)
		_, err = j.Claim(t.Context(), "first", journal.WriterID{}, journal.Bounds{})
		if seq == events {
			require.ErrorIs(t, err, journal.ErrCorrupt, "nobody begins anew in its place")
		} else {
			require.NoError(t, err, "what comes after it is known")
		}
	}
}

func TestAStreamThatHasLostItsEndIsOpenedByNameOnly(t *testing.T) {
	t.Parallel()
	var last journal.Offset
	s := newSpoiled(t, func(j *located) map[string][]string {
		w := claim(t, j, "x")
		want := make([]string, 20)
		for i := range want {
			want[i] = fmt.Sprint(i)
			w.append(t, want[i])
		}
		last = entries(t, j, journal.Query{}, "")[19].Offset
		return map[string][]string{"x": want}
	})
	s.spoil(t, func(file []byte) []byte { return file[:len(file)/2] })
	_, err := s.open(t, false)
	require.ErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, "AcceptLoss")
	j, err := s.open(t, true)
	require.NoError(t, err)
	require.Equal(t, "the end is missing", history(t, j, "x", s.want["x"]))
	for _, err := range j.Events(t.Context(), journal.Query{}, last) {
		require.ErrorIs(t, err, journal.ErrCorrupt, "a reader has seen more")
	}
	w := claim(t, j, "x")
	require.Less(t, w.last, uint64(20))
	w.append(t, "anew")
	_, err = s.open(t, false)
	require.NoError(t, err, "the stream has an end again")
}

// A spoiled is the store of a server, with an intact copy.
type spoiled struct {
	cluster     *cluster
	stream      string
	whole       string // the copy
	want        map[string][]string
	connections []*nats.Conn
}

// newSpoiled has fill fill a journal and stops its server.
func newSpoiled(t *testing.T, fill func(*located) map[string][]string) *spoiled {
	t.Helper()
	r := &rig{cluster: start(t, 1)}
	j := r.open(t, r.name())
	s := &spoiled{cluster: r.cluster, stream: j.stream, whole: filepath.Join(t.TempDir(), "whole"), want: fill(j)}
	j.nc.Close()
	s.cluster.stop(0)
	require.NoError(t, os.CopyFS(s.whole, os.DirFS(s.cluster.options[0].StoreDir)))
	return s
}

// spoil stops the server, and starts it on the copy after do has changed the file with the
// messages.
func (s *spoiled) spoil(t *testing.T, do func(file []byte) []byte) {
	t.Helper()
	s.cluster.stop(0)
	dir := s.cluster.options[0].StoreDir
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.CopyFS(dir, os.DirFS(s.whole)))
	files, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", s.stream, "msgs", "*.blk"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], do(data), 0o600))
	s.cluster.run(t, 0)
}

// open opens the journal, by a connection that the next one closes.
func (s *spoiled) open(t *testing.T, acceptLoss bool) (*jetstream.Journal, error) {
	t.Helper()
	for _, nc := range s.connections {
		nc.Close()
	}
	nc := s.cluster.connect(t)
	s.connections = []*nats.Conn{nc}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return jetstream.Open(ctx, nc, jetstream.Config{Stream: s.stream, Durability: jetstream.SyncAlways, Replicas: 1, AcceptLoss: acceptLoss})
}

// history reads id, and describes the result.
func history(t *testing.T, j *jetstream.Journal, id string, whole []string) string {
	t.Helper()
	n := 0
	for r, err := range j.Read(t.Context(), id, 1, everything) {
		if err != nil {
			require.ErrorIs(t, err, journal.ErrCorrupt)
			return "found out"
		}
		require.Less(t, n, len(whole), "more than there was of %s", id)
		require.Equal(t, whole[n], string(r.Payload), "record %d of %s", r.Seq, id)
		n++
	}
	if n == len(whole) {
		return "whole"
	}
	return "the end is missing"
}
