package journaltest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

// showPatience bounds how long an event that is stored may stay hidden: a journal may
// show it only once nothing can come before it.
const showPatience = 10 * time.Second

// reader opens a journal as the event reader that it also is.
func (e *env) reader() (persistence.EventReader, persistence.Journal) {
	j := e.journal()
	r, ok := j.(persistence.EventReader)
	if !ok {
		e.skip(fmt.Sprintf("%T is not an event reader", j))
	}
	return r, j
}

// events returns what r has for q now. No offset comes twice.
func (e *env) events(r persistence.EventReader, q persistence.Query, after persistence.Offset) []persistence.Entry {
	e.Helper()
	var entries []persistence.Entry
	seen := map[persistence.Offset]bool{"": true, after: true}
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
func (e *env) await(r persistence.EventReader, after persistence.Offset, n int) []persistence.Entry {
	e.Helper()
	entries := e.events(r, persistence.Query{}, after)
	for begin := time.Now(); len(entries) < n && time.Since(begin) < showPatience; entries = e.events(r, persistence.Query{}, after) {
		time.Sleep(time.Millisecond) // a real store, in real time
	}
	require.Len(e, entries, n)
	return entries
}

// requireReadsOn requires that q has n events now, those of each id in order, and that a
// reader which stops at any of some can go on after it.
func (e *env) requireReadsOn(r persistence.EventReader, q persistence.Query, n int) {
	e.Helper()
	all := e.events(r, q, "")
	require.Len(e, all, n)
	requireOrderOfIDs(e, all)
	for i := 0; i < n; i += 1 + n/8 {
		require.Equal(e, all[i+1:], append([]persistence.Entry{}, e.events(r, q, all[i].Offset)...))
	}
}

// requireOrderOfIDs requires the records of each id in their order.
func requireOrderOfIDs(e *env, entries []persistence.Entry) {
	e.Helper()
	last := map[string]uint64{}
	for _, entry := range entries {
		require.Greater(e, entry.Record.Seq, last[entry.ID], "%q", entry.ID)
		last[entry.ID] = entry.Record.Seq
	}
}

func (e *env) requireEventsFail(ctx context.Context, r persistence.EventReader, q persistence.Query, after persistence.Offset, want error) {
	e.Helper()
	n := 0
	for entry, err := range r.Events(ctx, q, after) {
		require.ErrorIs(e, err, want, "after %q: %+v", after, entry)
		n++
	}
	require.Equal(e, 1, n, "one error after %q", after)
}

func payloadsOf(entries []persistence.Entry) []string {
	payloads := []string{}
	for _, entry := range entries {
		payloads = append(payloads, string(entry.Record.Payload))
	}
	return payloads
}
