package journaltest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

// showPatience bounds how long an event that is stored may stay hidden: a journal may
// show it only once nothing can come before it.
const showPatience = 10 * time.Second

// reader opens a journal as the event reader that it also is.
func (e *env) reader() (journal.EventReader, journal.Journal) {
	j := e.journal()
	r, ok := journal.As[journal.EventReader](j)
	if !ok {
		e.skip(fmt.Sprintf("%T is not an event reader", j))
	}
	return r, j
}

// events returns what r has for q now. No offset comes twice.
func (e *env) events(r journal.EventReader, q journal.Query, after journal.Offset) []journal.Entry {
	e.Helper()
	var entries []journal.Entry
	seen := map[journal.Offset]bool{"": true, after: true}
	for entry, err := range r.Events(e.Context(), q, after) {
		require.NoError(e, err)
		require.False(e, seen[entry.Offset], "offset %q of event %d of %q was there before", entry.Offset, entry.Record.Seq, entry.ID)
		seen[entry.Offset] = true
		entries = append(entries, entry)
	}
	return entries
}

// await returns all that r has as soon as there are n events, and requires that there are no
// more.
func (e *env) await(r journal.EventReader, after journal.Offset, n int) []journal.Entry {
	e.Helper()
	entries := e.events(r, journal.Query{}, after)
	for begin := time.Now(); len(entries) < n && time.Since(begin) < showPatience; entries = e.events(r, journal.Query{}, after) {
		time.Sleep(time.Millisecond) // a real store, in real time
	}
	require.Len(e, entries, n)
	return entries
}

// requireReadsOn requires that q has n events now, those of each id in order, and that a
// reader which stops at any of some can go on after it.
func (e *env) requireReadsOn(r journal.EventReader, q journal.Query, n int) {
	e.Helper()
	all := e.events(r, q, "")
	require.Len(e, all, n)
	requireOrderOfIDs(e, all)
	for i := 0; i < n; i += 1 + n/8 {
		require.Equal(e, all[i+1:], append([]journal.Entry{}, e.events(r, q, all[i].Offset)...))
	}
}

// requireOrderOfIDs requires the records of each id in their order.
func requireOrderOfIDs(e *env, entries []journal.Entry) {
	e.Helper()
	last := map[string]uint64{}
	for _, entry := range entries {
		require.Greater(e, entry.Record.Seq, last[entry.ID], "%q", entry.ID)
		last[entry.ID] = entry.Record.Seq
	}
}

func (e *env) requireEventsFail(ctx context.Context, r journal.EventReader, q journal.Query, after journal.Offset, want error) {
	e.Helper()
	n := 0
	for entry, err := range r.Events(ctx, q, after) {
		require.ErrorIs(e, err, want, "after %q: %+v", after, entry)
		n++
	}
	require.Equal(e, 1, n, "one error after %q", after)
}

func payloadsOf(entries []journal.Entry) []string {
	payloads := []string{}
	for _, entry := range entries {
		payloads = append(payloads, string(entry.Record.Payload))
	}
	return payloads
}
