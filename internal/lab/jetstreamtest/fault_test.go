package jetstreamtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAMissingMessageIsAnError(t *testing.T) {
	r := &rig{cluster: start(t, 1)}
	j := r.open(t, r.name())
	w := claim(t, j, "x")
	for i := range 100 {
		w.append(t, fmt.Sprint(i))
	}
	require.NoError(t, j.at(t, j.stream).DeleteMsg(t.Context(), 50)) // the message of record 49
	next := uint64(1)
	var last error
	for record, err := range j.Read(t.Context(), "x", 1, everything) {
		if last = err; err == nil {
			require.Equal(t, next, record.Seq)
			next++
		}
	}
	require.ErrorIs(t, last, journal.ErrCorrupt)
	require.Equal(t, uint64(49), next)
	for record, err := range j.Read(t.Context(), "x", 50, 60) {
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(record.Seq-1), string(record.Payload))
	}
}

func TestAStreamThatLostItsEndIsNoticedByWhoHasSeenIt(t *testing.T) {
	r := &rig{cluster: start(t, 1)}
	j := r.open(t, r.name())
	w := claim(t, j, "x")
	w.append(t, "a")
	require.NoError(t, j.at(t, j.stream).DeleteMsg(t.Context(), 2))
	for _, err := range j.Read(t.Context(), "x", 1, everything) {
		require.ErrorIs(t, err, journal.ErrUnavailable)
	}
	require.ErrorIs(t, w.try(t.Context(), w.request("b")), journal.ErrUnavailable)
}

func TestServersMayRestartWhileWritersWrite(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := &rig{cluster: start(t, n)}
			j := r.open(t, r.name())
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			enough := make(chan struct{})
			const writers = 4
			counts, errs := make([]int, writers), make([]error, writers)
			var all sync.WaitGroup
			for i := range writers {
				w := claim(t, j, fmt.Sprint("w", i))
				all.Go(func() {
					for errs[i] == nil {
						if errs[i] = w.persist(ctx, fmt.Sprint(counts[i])); errs[i] == nil {
							counts[i]++
						}
						select {
						case <-enough:
							return
						default:
						}
					}
				})
			}
			for i := range n {
				w := claim(t, j, fmt.Sprint("progress-", i))
				require.NoError(t, w.persist(ctx, "before"))
				r.cluster.stop(i)
				r.cluster.run(t, i)
				require.NoError(t, w.persist(ctx, "after"))
				require.Equal(t, []string{"before", "after"}, read(t, j, w.id))
			}
			close(enough)
			all.Wait()
			for i := range writers {
				require.NoError(t, errs[i])
				got := read(t, j, fmt.Sprint("w", i))
				require.Len(t, got, counts[i])
				for n, payload := range got {
					require.Equal(t, fmt.Sprint(n), payload)
				}
			}
			t.Logf("events of each writer: %v", counts)
		})
	}
}

// A client of a server that was away reads the messages that the server has missed.
func TestAReplicaThatLagsHidesNothing(t *testing.T) {
	r := &rig{cluster: start(t, 3)}
	j := r.open(t, r.name())
	w := claim(t, j, "x")
	w.append(t, "first")
	leader := j.at(t, j.stream).CachedInfo().Cluster.Leader
	away := slices.IndexFunc(r.cluster.servers, func(s *server.Server) bool { return s.Name() != leader })
	r.cluster.stop(away)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want := []string{"first"}
	for i := range 300 {
		want = append(want, fmt.Sprint(i))
		require.NoError(t, w.persist(ctx, want[i+1]))
	}
	r.cluster.run(t, away)
	nc, err := nats.Connect(fmt.Sprintf("nats://127.0.0.1:%d", r.cluster.options[away].Port))
	require.NoError(t, err)
	defer nc.Close()
	var behind *jetstream.Journal
	for behind == nil { // the server may not know the leader yet
		behind, err = jetstream.Open(ctx, nc, jetstream.Config{Stream: j.stream, Durability: jetstream.SyncAlways, Replicas: 3})
		require.NoError(t, ctx.Err(), "%v", err)
	}
	defer behind.Close()
	require.Equal(t, want, read(t, behind, "x"))
	require.Len(t, entries(t, behind, journal.Query{}, ""), len(want))
	require.Equal(t, uint64(len(want)), claim(t, behind, "x").last)
}

func TestLargeEventsAreKeptElsewhereAndDeleted(t *testing.T) {
	r := &rig{cluster: start(t, 1)}
	j := r.open(t, r.name())
	w := claim(t, j, "x")
	large := strings.Repeat("0123456789", 300_000)
	w.append(t, "small", large)
	w.append(t, "between")
	w.append(t, large)
	require.Equal(t, []string{"small", large, "between", large}, read(t, j, "x"))
	found := entries(t, j, journal.Query{}, "")
	require.Len(t, found, 4)
	require.Equal(t, large, string(found[1].Record.Payload))

	chunks := func() uint64 { return j.at(t, j.stream+"_LARGE").CachedInfo().State.Msgs }
	before := chunks()
	require.NoError(t, j.DeleteTo(t.Context(), "x", w.epoch, 1))
	require.Equal(t, before, chunks(), "the second record of the message is there")
	require.Equal(t, []string{large, "between", large}, read(t, j, "x"))
	require.NoError(t, j.DeleteTo(t.Context(), "x", w.epoch, 2))
	require.Equal(t, before/2, chunks())
	require.Equal(t, []string{"between", large}, read(t, j, "x"))
	require.NoError(t, j.DeleteTo(t.Context(), "x", w.epoch, 4))
	require.Zero(t, chunks())
	require.Equal(t, uint64(4), claim(t, j, "x").last)
}

func TestDeletionAndSnapshotsLeaveNoMessagesBehind(t *testing.T) {
	r := &rig{cluster: start(t, 1)}
	j := r.open(t, r.name())
	w := claim(t, j, "x")
	for i := range uint64(100) {
		w.append(t, "event")
		s := journal.Snapshot{Seq: i + 1, Epoch: w.epoch, Payload: []byte("state")}
		require.NoError(t, j.SaveSnapshot(t.Context(), "x", s))
		require.NoError(t, j.DeleteSnapshots(t.Context(), "x", w.epoch, i+1, 2))
	}
	require.Equal(t, uint64(2), j.at(t, j.stream+"_LARGE").CachedInfo().State.Msgs)
	require.NoError(t, j.DeleteTo(t.Context(), "x", w.epoch, 99))
	require.LessOrEqual(t, j.at(t, j.stream).CachedInfo().State.Msgs, uint64(4))
	s, ok, _, err := j.LoadSnapshot(t.Context(), "x", everything)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, uint64(100), s.Seq)
}

func TestOpenRefusesStreamsThatAreNoJournal(t *testing.T) {
	c := start(t, 1)
	nc := c.connect(t)
	client, err := js.New(nc)
	require.NoError(t, err)
	for name, spoil := range map[string]func(*js.StreamConfig){
		"drop-old":  func(s *js.StreamConfig) { s.Discard = js.DiscardOld },
		"max-age":   func(s *js.StreamConfig) { s.MaxAge = time.Hour },
		"memory":    func(s *js.StreamConfig) { s.Storage = js.MemoryStorage },
		"max-msgs":  func(s *js.StreamConfig) { s.MaxMsgs = 10 },
		"indirect":  func(s *js.StreamConfig) { s.AllowDirect = false },
		"subjects":  func(s *js.StreamConfig) { s.Subjects = []string{"subjects.>"} },
		"async":     func(s *js.StreamConfig) { s.PersistMode = js.AsyncPersistMode },
		"no-purge":  func(s *js.StreamConfig) { s.DenyPurge = true },
		"no-ack":    func(s *js.StreamConfig) { s.NoAck = true },
		"interests": func(s *js.StreamConfig) { s.Retention = js.InterestPolicy },
	} {
		config := js.StreamConfig{
			Name: name, Subjects: []string{name + ".e.*.*.*", name + ".cut"}, Discard: js.DiscardNew, Storage: js.FileStorage,
			Replicas: 1, AllowDirect: true,
		}
		spoil(&config)
		_, err := client.CreateStream(t.Context(), config)
		require.NoError(t, err, name)
		_, err = jetstream.Open(t.Context(), nc, jetstream.Config{Stream: name, Durability: jetstream.SyncAlways, Replicas: 1})
		require.ErrorContains(t, err, "does not suit a journal", name)
	}
	_, err = jetstream.Open(t.Context(), nc, jetstream.Config{Stream: "async", Durability: jetstream.DeferredSync, Replicas: 1})
	require.NoError(t, err, "allowed by name")
}

func TestOpenRequiresWhatOnlyTheUserKnows(t *testing.T) {
	nc := start(t, 1).connect(t)
	for _, config := range []jetstream.Config{
		{},
		{Stream: "x", Replicas: 1},
		{Stream: "a.b", Durability: jetstream.SyncAlways, Replicas: 1},
		{Stream: "x", Durability: jetstream.SyncAlways, Replicas: -1},
		{Stream: "x", Durability: jetstream.SyncAlways}, // three replicas
	} {
		_, err := jetstream.Open(t.Context(), nc, config)
		require.Error(t, err, "%+v", config)
	}
	_, err := jetstream.Open(t.Context(), nil, jetstream.Config{Stream: "x", Durability: jetstream.SyncAlways})
	require.ErrorContains(t, err, "nats.Connect")
}
