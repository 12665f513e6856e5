// Package journalhistory has one history of records, claims and snapshots, and timers beside it.
// The golden file of each store contains it, as the build wrote it that introduced the version of
// the file.
package journalhistory

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A Store is a store in which the history can be kept.
type Store interface {
	journal.Journal
	journal.SnapshotStore
	journal.EventReader
}

const (
	whole  = "account-1" // an id that uses everything
	empty  = "account-2" // an id that was claimed, and has no events
	ended  = "account-3" // an id whose events are all deleted
	second = 2 << 32     // the epoch of the second claim of whole
)

var (
	writer = journal.WriterID{1, 2, 3}
	begin  = time.Date(2026, 11, 25, 12, 30, 0, 123456789, time.UTC)
)

// The first record is deleted in the end.
func records() []journal.Record {
	return []journal.Record{
		{Seq: 1, Epoch: 1, Writer: writer, Time: begin, Type: "bank.opened", Payload: []byte{0xa0}},
		{Seq: 2, Epoch: 1, Writer: writer, Time: begin.Add(time.Hour), Type: "bank.deposited", Tags: []string{"big", "größer"}, Payload: []byte{0xa1, 0x61, 'n', 7}},
		{Seq: 3, Epoch: second, Writer: writer, Time: time.Unix(-1, 5).UTC(), Type: "bank.deposited", Tags: []string{"big"}, Meta: map[string]string{"trace": "t-1"}, Payload: []byte{0xff, 1, 'c', 0}},
	}
}

func snapshot() journal.Snapshot {
	return journal.Snapshot{Seq: 2, Epoch: second, Time: begin.Add(2 * time.Hour), Type: "bank.account", Payload: []byte{0xa1, 0x61, 'n', 8}}
}

// Write stores the history in an empty store.
func Write(t testing.TB, s Store) {
	t.Helper()
	all := records()
	appendTo(t, s, whole, claim(t, s, whole, journal.Bounds{}), all[:2])
	newer := claim(t, s, whole, journal.Bounds{Least: second, Below: 3 << 32})
	appendTo(t, s, whole, newer, all[2:])
	require.NoError(t, s.SaveSnapshot(t.Context(), whole, snapshot()))
	require.NoError(t, s.DeleteTo(t.Context(), whole, newer.Epoch, 1))
	claim(t, s, empty, journal.Bounds{})
	last := claim(t, s, ended, journal.Bounds{})
	appendTo(t, s, ended, last, all[:1])
	require.NoError(t, s.DeleteTo(t.Context(), ended, last.Epoch, 1))
}

// Require requires that s has the history. It then continues the history, so s cannot be used
// again.
func Require(t testing.TB, s Store) {
	t.Helper()
	left := records()[1:]
	require.Equal(t, left, read(t, s, whole))
	require.Empty(t, read(t, s, empty))
	require.Empty(t, read(t, s, ended))
	requireEvents(t, s, left)
	got, ok, skipped, err := s.LoadSnapshot(t.Context(), whole, math.MaxInt64)
	require.NoError(t, err)
	require.True(t, ok)
	require.Empty(t, skipped)
	require.Equal(t, snapshot(), got)

	require.Equal(t, journal.Claim{Epoch: second + 1, LastSeq: 3, DeletedTo: 1}, claim(t, s, whole, journal.Bounds{Least: second, Below: 3 << 32}))
	require.Equal(t, journal.Claim{Epoch: 2}, claim(t, s, empty, journal.Bounds{}))
	last := claim(t, s, ended, journal.Bounds{})
	require.Equal(t, journal.Claim{Epoch: 2, LastSeq: 1, DeletedTo: 1}, last)
	next := journal.Record{Seq: 2, Epoch: 2, Writer: writer, Time: begin, Type: "bank.opened", Payload: []byte{0xa0}}
	appendTo(t, s, ended, last, []journal.Record{next})
	require.Equal(t, []journal.Record{next}, read(t, s, ended))
}

// RequireOneMigration opens a store that has the history in an older version, n times at once. All
// must succeed, and exactly one must log, with these fields, that it has migrated the store.
func RequireOneMigration[S interface {
	Store
	Close() error
}](t testing.TB, n int, fields map[string]any, open func(log *zap.Logger) (S, error)) {
	t.Helper()
	core, logged := observer.New(zap.InfoLevel)
	opened, errs := make([]S, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { opened[i], errs[i] = open(zap.New(core)) })
	}
	all.Wait()
	for i, s := range opened {
		require.NoError(t, errs[i])
		if i == 0 {
			Require(t, s)
		}
		require.NoError(t, s.Close())
	}
	entries := logged.TakeAll()
	require.Len(t, entries, 1)
	require.Equal(t, "journal migrated", entries[0].Message)
	require.Equal(t, fields, entries[0].ContextMap())
}

func requireEvents(t testing.TB, s Store, want []journal.Record) {
	t.Helper()
	for tag, events := range map[string][]journal.Record{"": want, "big": want, "größer": want[:1], "small": nil} {
		var found []journal.Record
		for e, err := range s.Events(t.Context(), journal.Query{Tag: tag}, "") {
			require.NoError(t, err)
			if e.Forgotten() {
				continue
			}
			require.Equal(t, whole, e.ID)
			found = append(found, e.Record)
		}
		require.Equal(t, events, found, tag)
	}
}

// claim does not tell the timers: not every store has them.
func claim(t testing.TB, s Store, id string, b journal.Bounds) journal.Claim {
	t.Helper()
	c, err := s.Claim(t.Context(), id, writer, b)
	require.NoError(t, err)
	c.Timers, c.TimersKnown = nil, false
	return c
}

func appendTo(t testing.TB, s Store, id string, c journal.Claim, records []journal.Record) {
	t.Helper()
	req := journal.AppendRequest{ID: id, Epoch: c.Epoch, Prev: c.LastSeq, Records: records}
	require.NoError(t, s.Append(t.Context(), []journal.AppendRequest{req})[0])
}

func read(t testing.TB, s Store, id string) (records []journal.Record) {
	t.Helper()
	for r, err := range s.Read(t.Context(), id, 1, math.MaxInt64) {
		require.NoError(t, err)
		records = append(records, r)
	}
	return records
}
