package journaltest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var tailLaws = []law{
	{"ATailingReaderMissesNothing", func(e *env) {
		r, j := e.reader()
		e.requireTailComplete(r, []journal.Journal{j})
	}},
	{"ATailingReaderMissesNothingFromAnotherHandle", func(e *env) {
		e.need(e.features.SecondHandle != nil, "SecondHandle")
		r, j := e.reader()
		e.requireTailComplete(r, []journal.Journal{j, e.features.SecondHandle(e.T, j)})
	}},
	{"WhatWasAppendedAfterAnAnswerComesAfterIt", func(e *env) {
		r, j := e.reader()
		stop := e.appendBeside(j)
		const rounds = 50
		cause, effect := e.writer(j, "cause"), e.writer(j, "effect")
		for i := range rounds {
			cause.append(fmt.Sprint(i))
			effect.append(fmt.Sprint(i))
		}
		all := e.await(r, "", 2*rounds+stop())
		causes := 0
		for _, entry := range all {
			switch entry.ID {
			case "cause":
				causes++
			case "effect":
				require.LessOrEqual(e, entry.Record.Seq, uint64(causes), "an effect before its cause")
			}
		}
	}},
	{"AJournalThatWakesDoesSoAfterEachAppend", func(e *env) {
		r, j := e.reader()
		if r.Appended() == nil {
			e.skip(fmt.Sprintf("%T does not notify readers", j))
		}
		w := e.writer(j, "x")
		for i := range 20 {
			appended := r.Appended()
			w.append("a")
			<-appended
			e.await(r, "", i+1)
		}
		appended := r.Appended()
		require.NoError(e, j.Close())
		<-appended
	}},
}

// The writers of a tail, and how many events each appends.
const (
	tailWriters = 8
	tailEvents  = 60
)

// requireTailComplete lets writers append through the journals, some of them several events at
// once. Meanwhile a reader continues from the last offset that it has seen. In the end the reader
// must have seen all events, in the same order as a read of everything. Otherwise an event has
// appeared before one that the reader had seen.
func (e *env) requireTailComplete(r journal.EventReader, journals []journal.Journal) {
	e.Helper()
	errs := make([]error, tailWriters)
	var all sync.WaitGroup
	total := 0
	for i := range tailWriters {
		w := e.writer(journals[i%len(journals)], fmt.Sprint("w", i))
		size := 1 + i%3
		total += tailEvents * size
		all.Go(func() {
			for n := 0; n < tailEvents && errs[i] == nil; n++ {
				errs[i] = w.try(w.next(numbered(fmt.Sprint(n), size)...))
				w.last += uint64(size)
			}
		})
	}
	ctx, written := context.WithCancel(e.Context())
	go func() { all.Wait(); written() }()

	var seen []journal.Entry
	var last journal.Offset
	reads := 0
	for ; ctx.Err() == nil; reads++ {
		seen, last = e.readOn(r, seen, last)
	}
	for _, err := range errs {
		require.NoError(e, err)
	}
	everythingThereIs := e.await(r, "", total)
	seen, _ = e.readOn(r, seen, last)
	require.Len(e, seen, total, "events that the tailing reader has missed, or seen twice")
	require.Equal(e, payloadsOf(everythingThereIs), payloadsOf(seen))
	requireOrderOfIDs(e, seen)
	e.Logf("%d events in %d reads", total, reads)
}

func (e *env) readOn(r journal.EventReader, seen []journal.Entry, last journal.Offset) ([]journal.Entry, journal.Offset) {
	e.Helper()
	seen = append(seen, e.events(r, journal.Query{}, last)...)
	if len(seen) > 0 {
		last = seen[len(seen)-1].Offset
	}
	return seen, last
}

func (e *env) appendBeside(j journal.Journal) (stop func() int) {
	var stopped atomic.Bool
	counts := make([]int, 4)
	errs := make([]error, len(counts))
	var all sync.WaitGroup
	for i := range counts {
		w := e.writer(j, fmt.Sprint("beside-", i))
		all.Go(func() {
			for !stopped.Load() && errs[i] == nil {
				if errs[i] = w.try(w.next("a")); errs[i] == nil {
					w.last++
					counts[i]++
				}
			}
		})
	}
	return func() int {
		stopped.Store(true)
		all.Wait()
		total := 0
		for i := range counts {
			require.NoError(e, errs[i])
			total += counts[i]
		}
		return total
	}
}
