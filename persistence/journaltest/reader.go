package journaltest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

// showPatience bounds how long a stored event may stay hidden. A journal may show it only once no
// event can appear before it.
const showPatience = 10 * time.Second

func (e *env) reader() (journal.EventReader, journal.Journal) {
	j := e.journal()
	r, ok := journal.As[journal.EventReader](j)
	if !ok {
		e.skip(fmt.Sprintf("%T is not an event reader", j))
	}
	return r, j
}

// events returns the events that r has for q now. It requires that offsets are unique.
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

// await waits until r has n events, returns them, and requires that there are no more.
func (e *env) await(r journal.EventReader, after journal.Offset, n int) []journal.Entry {
	e.Helper()
	entries := e.events(r, journal.Query{}, after)
	for begin := time.Now(); len(entries) < n && time.Since(begin) < showPatience; entries = e.events(r, journal.Query{}, after) {
		time.Sleep(time.Millisecond) // a real store, in real time
	}
	require.Len(e, entries, n)
	return entries
}

// requireReadsOn requires that q has n events now, and that the events of each id are in order. It
// also requires that a reader can continue after any of some offsets.
func (e *env) requireReadsOn(r journal.EventReader, q journal.Query, n int) {
	e.Helper()
	all := e.events(r, q, "")
	require.Len(e, all, n)
	requireOrderOfIDs(e, all)
	for i := 0; i < n; i += 1 + n/8 {
		require.Equal(e, all[i+1:], append([]journal.Entry{}, e.events(r, q, all[i].Offset)...))
	}
}

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
