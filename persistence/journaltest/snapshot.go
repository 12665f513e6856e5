package journaltest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var snapshotLaws = []law{
	{"TheNewestSnapshotIsLoaded", func(e *env) {
		store, _ := e.withSnapshots(10, 3, 5, 8)
		for _, c := range []struct{ max, want uint64 }{{everything, 8}, {10, 8}, {8, 8}, {7, 5}, {5, 5}, {3, 3}} {
			s, ok, skipped, err := store.LoadSnapshot(e.Context(), "x", c.max)
			require.NoError(e, err)
			require.True(e, ok)
			require.Empty(e, skipped)
			require.Equal(e, c.want, s.Seq)
			require.Equal(e, fmt.Sprintf("state %d", c.want), string(s.Payload))
		}
		_, ok, _, err := store.LoadSnapshot(e.Context(), "x", 2)
		require.NoError(e, err)
		require.False(e, ok)
		requireSnapshots(e, store, "x", 3, 5, 8)
	}},
	{"AnUnknownIDHasNoSnapshots", func(e *env) {
		store := e.snapshots(e.journal())
		_, ok, skipped, err := store.LoadSnapshot(e.Context(), "nobody", everything)
		require.NoError(e, err)
		require.False(e, ok)
		require.Empty(e, skipped)
		requireSnapshots(e, store, "nobody")
	}},
	{"EveryFieldOfASnapshotComesBack", func(e *env) {
		store, w := e.withSnapshots(3)
		saved := journal.Snapshot{
			Seq: 3, Epoch: w.claim.Epoch, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("elsewhere", 3600)),
			Type: "state/v1", Payload: []byte{0, 255},
		}
		require.NoError(e, store.SaveSnapshot(e.Context(), "x", saved))
		saved.Payload[0] = 7 // the caller may change it again
		s, ok, _, err := store.LoadSnapshot(e.Context(), "x", 3)
		require.NoError(e, err)
		require.True(e, ok)
		require.True(e, saved.Time.Equal(s.Time))
		saved.Time, saved.Payload = s.Time, []byte{0, 255}
		require.Equal(e, saved, s)
	}},
	{"ASnapshotReplacesThatOfTheSameNumber", func(e *env) {
		store, w := e.withSnapshots(5, 5)
		require.NoError(e, store.SaveSnapshot(e.Context(), "x", journal.Snapshot{Seq: 5, Epoch: w.claim.Epoch, Payload: []byte("again")}))
		s, _, _, err := store.LoadSnapshot(e.Context(), "x", 5)
		require.NoError(e, err)
		require.Equal(e, "again", string(s.Payload))
		requireSnapshots(e, store, "x", 5)
	}},
	{"SnapshotsOfDifferentIDsAreKeptApart", func(e *env) {
		store, w := e.withSnapshots(5, 5)
		other := e.writer(w.j, "xx")
		other.append("a")
		_, ok, _, err := store.LoadSnapshot(e.Context(), "xx", everything)
		require.NoError(e, err)
		require.False(e, ok)
	}},
	{"AFencedWriterCannotTouchSnapshots", func(e *env) {
		store, older := e.withSnapshots(5, 2, 5)
		newer := e.writer(older.j, "x")
		err := store.SaveSnapshot(e.Context(), "x", journal.Snapshot{Seq: 5, Epoch: older.claim.Epoch, Payload: []byte("zombie")})
		require.ErrorIs(e, err, journal.ErrFenced)
		require.ErrorIs(e, store.DeleteSnapshots(e.Context(), "x", older.claim.Epoch, 5, 0), journal.ErrFenced)
		s, _, _, err := store.LoadSnapshot(e.Context(), "x", everything)
		require.NoError(e, err)
		require.Equal(e, "state 5", string(s.Payload))
		requireSnapshots(e, store, "x", 2, 5)
		require.NoError(e, store.DeleteSnapshots(e.Context(), "x", newer.claim.Epoch, 5, 0))
	}},
	{"ASnapshotAheadOfTheJournalIsRefused", func(e *env) {
		store, w := e.withSnapshots(5)
		err := store.SaveSnapshot(e.Context(), "x", journal.Snapshot{Seq: 6, Epoch: w.claim.Epoch})
		require.ErrorIs(e, err, journal.ErrConflict)
		require.ErrorIs(e, store.SaveSnapshot(e.Context(), "x", journal.Snapshot{Epoch: w.claim.Epoch}), journal.ErrInvalid)
		requireSnapshots(e, store, "x")
	}},
	{"DeletionKeepsTheNewestSnapshots", func(e *env) {
		for _, c := range []struct {
			seq  uint64
			keep int
			left []uint64
		}{
			{0, 0, []uint64{2, 4, 6, 8}},
			{5, 0, []uint64{6, 8}},
			{5, 1, []uint64{6, 8}},
			{5, 3, []uint64{4, 6, 8}},
			{everything, 2, []uint64{6, 8}},
			{8, 1, []uint64{8}},
			{8, 9, []uint64{2, 4, 6, 8}},
			{8, 0, nil},
			{8, -1, nil},
		} {
			store, w := e.withSnapshots(10, 2, 4, 6, 8)
			require.NoError(e, store.DeleteSnapshots(e.Context(), "x", w.claim.Epoch, c.seq, c.keep))
			requireSnapshots(e, store, "x", c.left...)
		}
	}},
	{"SnapshotsOutliveTheirEvents", func(e *env) {
		store, w := e.withSnapshots(5, 5)
		require.NoError(e, w.j.DeleteTo(e.Context(), "x", w.claim.Epoch, 5))
		requireSnapshots(e, store, "x", 5)
	}},
	{"AnOlderSnapshotIsLoadedWithTheEventsAfterIt", func(e *env) {
		store, w := e.withSnapshots(10, 2, 5, 8)
		require.NoError(e, w.j.DeleteTo(e.Context(), "x", w.claim.Epoch, 5))
		require.NoError(e, store.DeleteSnapshots(e.Context(), "x", w.claim.Epoch, 2, 2))
		for _, c := range []struct{ before, want uint64 }{{everything, 8}, {8 - 1, 5}} {
			s, ok, skipped, err := store.LoadSnapshot(e.Context(), "x", c.before)
			require.NoError(e, err)
			require.True(e, ok)
			require.Empty(e, skipped)
			require.Equal(e, c.want, s.Seq)
			require.Len(e, e.read(w.j, "x", s.Seq+1, everything), int(10-s.Seq))
		}
		_, ok, _, err := store.LoadSnapshot(e.Context(), "x", 5-1)
		require.NoError(e, err)
		require.False(e, ok)
	}},
	{"LargeSnapshotsAreStoredOrRefused", func(e *env) {
		store, w := e.withSnapshots(1)
		large := journal.Snapshot{Seq: 1, Epoch: w.claim.Epoch, Payload: make([]byte, 16<<20)}
		if err := store.SaveSnapshot(e.Context(), "x", large); err != nil {
			require.ErrorIs(e, err, journal.ErrTooLarge)
			return
		}
		s, _, _, err := store.LoadSnapshot(e.Context(), "x", 1)
		require.NoError(e, err)
		require.Len(e, s.Payload, len(large.Payload))
	}},
	{"SnapshotCallsEndLikeOthers", func(e *env) {
		store, w := e.withSnapshots(2, 1)
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		next := journal.Snapshot{Seq: 2, Epoch: w.claim.Epoch}
		for range 2 {
			want := []error{journal.ErrUnavailable, context.Canceled}
			if ctx == e.Context() {
				want = []error{journal.ErrClosed}
			}
			_, _, _, loadErr := store.LoadSnapshot(ctx, "x", 1)
			_, listErr := store.Snapshots(ctx, "x")
			for _, is := range want {
				require.ErrorIs(e, store.SaveSnapshot(ctx, "x", next), is)
				require.ErrorIs(e, store.DeleteSnapshots(ctx, "x", w.claim.Epoch, 1, 0), is)
				require.ErrorIs(e, loadErr, is)
				require.ErrorIs(e, listErr, is)
			}
			require.NoError(e, w.j.Close())
			ctx = e.Context()
		}
	}},
}

func (e *env) withSnapshots(events int, seqs ...uint64) (journal.SnapshotStore, *writer) {
	e.Helper()
	j := e.journal()
	store := e.snapshots(j)
	w := e.writer(j, "x")
	w.append(numbered("e", events)...)
	for _, seq := range seqs {
		require.NoError(e, store.SaveSnapshot(e.Context(), "x", journal.Snapshot{
			Seq: seq, Epoch: w.claim.Epoch, Type: "state", Payload: fmt.Appendf(nil, "state %d", seq),
		}))
	}
	return store, w
}

func requireSnapshots(e *env, store journal.SnapshotStore, id string, want ...uint64) {
	e.Helper()
	seqs, err := store.Snapshots(e.Context(), id)
	require.NoError(e, err)
	if len(want) == 0 {
		require.Empty(e, seqs)
		return
	}
	require.Equal(e, want, seqs)
}
