package journaltest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var queryLaws = []law{
	{"EveryFieldOfAnEventIsFound", func(e *env) {
		r, j := e.reader()
		w := e.writer(j, "x")
		req := w.next("payload")
		full := fullRecord()
		full.Seq, full.Epoch = req.Records[0].Seq, req.Epoch
		req.Records[0] = full
		require.NoError(e, w.try(req))

		got := e.await(r, "", 1)[0]
		require.Equal(e, "x", got.ID)
		require.NotEmpty(e, got.Offset)
		require.Equal(e, e.read(j, "x", 1, 1)[0], got.Record)
		require.Equal(e, full.Checksum("x"), got.Record.Checksum("x"))
	}},
	{"AnEmptyJournalHasNoEvents", func(e *env) {
		r, j := e.reader()
		require.Empty(e, e.events(r, journal.Query{}, ""))
		e.writer(j, "x")
		require.Empty(e, e.events(r, journal.Query{}, ""), "a claim is no event")
	}},
	{"EventsAreFoundInTheOrderOfTheirAppends", func(e *env) {
		r, j := e.reader()
		a, b := e.writer(j, "a"), e.writer(j, "b")
		var want []string
		for i := range 30 {
			w := []*writer{a, b}[i%2]
			w.append(numbered(fmt.Sprint(w.id, i), 1+i%3)...)
			want = append(want, numbered(fmt.Sprint(w.id, i), 1+i%3)...)
		}
		require.Equal(e, want, payloadsOf(e.await(r, "", len(want))))
	}},
	{"ClocksThatGoBackChangeNoOrder", func(e *env) {
		r, j := e.reader()
		a, b := e.writer(j, "a"), e.writer(j, "b")
		now := time.Date(2026, 3, 29, 3, 0, 0, 0, time.UTC)
		var want []string
		for i := range 10 {
			w := []*writer{a, b}[i%2]
			req := w.next(fmt.Sprint(i))
			req.Records[0].Time = now.Add(-time.Duration(i) * time.Hour)
			require.NoError(e, w.try(req))
			w.last++
			want = append(want, fmt.Sprint(i))
		}
		require.Equal(e, want, payloadsOf(e.await(r, "", 10)))
		require.Equal(e, []string{"0", "2", "4", "6", "8"}, e.payloads(j, "a"))
		e.requireReadsOn(r, journal.Query{}, 10)
	}},
	{"ManyEventsAreFoundOnce", func(e *env) {
		r, j := e.reader()
		const ids, groups, size = 3, 5, 300
		for i := range ids {
			w := e.writer(j, fmt.Sprint("id-", i))
			for range groups {
				w.append(numbered("e", size)...)
			}
		}
		e.await(r, "", ids*groups*size)
		e.requireReadsOn(r, journal.Query{Slices: journal.SliceRange{From: 0, To: journal.Slices}}, ids*groups*size)
	}},
	{"ATagFindsTheEventsThatHaveIt", func(e *env) {
		r, j := e.reader()
		e.appendTagged(j, [][]string{{"red"}, {"red", "blue"}, nil, {"redder"}, {"re"}, {"Red"}, {"red "}, {"blue", "red", "red"}, {"re%"}, {"r_d"}})
		e.await(r, "", 10)
		for tag, want := range map[string][]string{
			"red": {"0", "1", "7"}, "blue": {"1", "7"}, "redder": {"3"}, "re": {"4"}, "Red": {"5"}, "red ": {"6"}, "re%": {"8"}, "r_d": {"9"},
			"green": {}, "r": {}, "%": {}, "red,blue": {},
		} {
			require.Equal(e, want, payloadsOf(e.events(r, journal.Query{Tag: tag}, "")), "tag %q", tag)
		}
	}},
	{"AwkwardTagsAreKeptApart", func(e *env) {
		r, j := e.reader()
		tags := append(awkwardIDs(), "red", strings.Repeat("t", 1000))
		var each [][]string
		for _, tag := range tags {
			each = append(each, []string{tag})
		}
		e.appendTagged(j, each)
		e.await(r, "", len(tags))
		for i, tag := range tags {
			found := payloadsOf(e.events(r, journal.Query{Tag: tag}, ""))
			for k, other := range tags {
				require.Equal(e, other == tag, slices.Contains(found, fmt.Sprint(k)), "tag %d, %q, and the event with %q", i, tag, other)
			}
		}
	}},
	{"SlicesPartTheEvents", func(e *env) {
		r, j := e.reader()
		const ids = 60
		for i := range ids {
			w := e.writer(j, fmt.Sprint("id-", i))
			req := w.next("a", "b")
			req.Records[i%2].Tags = []string{"red"}
			require.NoError(e, w.try(req))
		}
		e.await(r, "", 2*ids)
		for _, n := range []int{1, 2, 7} {
			all, red := 0, 0
			for _, s := range journal.Split(n) {
				entries := e.events(r, journal.Query{Slices: s}, "")
				tagged := e.events(r, journal.Query{Slices: s, Tag: "red"}, "")
				for _, entry := range slices.Concat(entries, tagged) {
					require.True(e, s.Contains(journal.SliceOf(entry.ID)), "%q is not in %v", entry.ID, s)
				}
				all, red = all+len(entries), red+len(tagged)
			}
			require.Equal(e, []int{2 * ids, ids}, []int{all, red})
		}
	}},
	{"AReaderGoesOnAfterAnyOffset", func(e *env) {
		r, j := e.reader()
		a, b := e.writer(j, "a"), e.writer(j, "b")
		for i := range 10 {
			a.append(numbered(fmt.Sprint("a", i), 2)...)
			b.append(fmt.Sprint("b", i))
		}
		e.await(r, "", 30)
		e.requireReadsOn(r, journal.Query{}, 30)
		e.requireReadsOn(r, journal.Query{Slices: sliceAround("b")}, 10)
	}},
	{"ATaggedReaderGoesOnAfterAnyOffset", func(e *env) {
		r, j := e.reader()
		e.appendTagged(j, slices.Repeat([][]string{{"red"}, nil, {"blue", "red"}}, 10))
		e.await(r, "", 30)
		e.requireReadsOn(r, journal.Query{Tag: "red"}, 20)
		e.requireReadsOn(r, journal.Query{Tag: "blue"}, 10)
		all, red := e.events(r, journal.Query{}, ""), journal.Query{Tag: "red"}
		require.Len(e, e.events(r, red, all[1].Offset), 19, "an offset is one of the journal, not of the query")
	}},
	{"OffsetsOutliveTheHandle", func(e *env) {
		e.need(e.features.Reopen != nil, "Reopen")
		r, j := e.reader()
		e.writer(j, "x").append(numbered("e", 10)...)
		before := e.await(r, "", 10)
		j = e.features.Reopen(e.T, j)
		e.writer(j, "x").append("later")
		r = j.(journal.EventReader)
		after := e.await(r, before[3].Offset, 7)
		require.Equal(e, before[4:], after[:6])
		require.Equal(e, "later", string(after[6].Record.Payload))
	}},
	{"AnotherHandleFindsTheSameEvents", func(e *env) {
		e.need(e.features.SecondHandle != nil, "SecondHandle")
		r, j := e.reader()
		other := e.features.SecondHandle(e.T, j).(journal.EventReader)
		w := e.writer(j, "x")
		for i := range 5 {
			w.append(fmt.Sprint(i))
			require.Len(e, e.await(other, "", i+1), i+1)
		}
		require.Equal(e, e.await(r, "", 5), e.events(other, journal.Query{}, ""))
	}},
	{"DeletedEventsAreNotFound", func(e *env) {
		r, j := e.reader()
		x, y := e.writer(j, "x"), e.writer(j, "y")
		for i := range 6 {
			req := x.next(fmt.Sprint("x", i))
			req.Records[0].Tags = []string{"red"}
			require.NoError(e, x.try(req))
			x.last++
			y.append(fmt.Sprint("y", i))
		}
		before := e.await(r, "", 12)
		require.NoError(e, j.DeleteTo(e.Context(), "x", x.claim.Epoch, 4))
		want := []string{"y0", "y1", "y2", "y3", "x4", "y4", "x5", "y5"}
		require.Equal(e, want, payloadsOf(e.events(r, journal.Query{}, "")))
		require.Equal(e, []string{"x4", "x5"}, payloadsOf(e.events(r, journal.Query{Tag: "red"}, "")))
		for i, entry := range before {
			rest := slices.DeleteFunc(payloadsOf(before[i+1:]), func(p string) bool { return !slices.Contains(want, p) })
			require.Equal(e, rest, payloadsOf(e.events(r, journal.Query{}, entry.Offset)), "offsets stay valid, also the offset of event %d", i)
		}
		require.NoError(e, j.DeleteTo(e.Context(), "x", x.claim.Epoch, everything))
		require.NoError(e, j.DeleteTo(e.Context(), "y", y.claim.Epoch, everything))
		require.Empty(e, e.events(r, journal.Query{}, ""))
		require.Empty(e, e.events(r, journal.Query{}, before[11].Offset))
		y.append("next")
		require.Equal(e, []string{"next"}, payloadsOf(e.await(r, before[11].Offset, 1)))
	}},
	{"AnOffsetOfAnotherJournalIsInvalid", func(e *env) {
		r, j := e.reader()
		e.writer(j, "x").append("a")
		own := e.await(r, "", 1)[0].Offset
		for _, o := range []journal.Offset{"1", "0", "another:1", own + "x", "x" + own, " " + own, "\x00", "☃"} {
			e.requireEventsFail(e.Context(), r, journal.Query{}, o, journal.ErrInvalid)
		}
	}},
	{"AnImpossibleQueryIsInvalid", func(e *env) {
		r, _ := e.reader()
		for _, q := range []journal.Query{
			{Tag: "\xff"},
			{Tag: "a\x00b"},
			{Slices: journal.SliceRange{From: 5, To: 5}},
			{Slices: journal.SliceRange{From: -1, To: 5}},
			{Slices: journal.SliceRange{From: 0, To: journal.Slices + 1}},
		} {
			e.requireEventsFail(e.Context(), r, q, "", journal.ErrInvalid)
		}
	}},
	{"AReaderOfEventsMayStopAnywhereAndUseTheJournal", func(e *env) {
		r, j := e.reader()
		w := e.writer(j, "x")
		w.append(numbered("e", 20)...)
		e.await(r, "", 20)
		for i := range 300 {
			seen := 0
			for _, err := range r.Events(e.Context(), journal.Query{}, "") {
				require.NoError(e, err)
				if seen++; seen > i%20 {
					break
				}
			}
		}
		for _, err := range r.Events(e.Context(), journal.Query{}, "") {
			require.NoError(e, err)
			if w.last < 40 {
				w.append("more")
			}
		}
		require.Len(e, e.await(r, "", 40), 40)
	}},
	{"ACancelledReaderOfEventsIsToldSo", func(e *env) {
		r, j := e.reader()
		e.writer(j, "x").append(numbered("e", 2000)...)
		e.await(r, "", 2000)
		ctx, cancel := context.WithCancel(e.Context())
		defer cancel()
		var last error
		seen := 0
		for _, last = range r.Events(ctx, journal.Query{}, "") {
			seen++
			cancel()
		}
		requireCalledOff(e, last, context.Canceled)
		require.Less(e, seen, 2000)
		e.requireEventsFail(ctx, r, journal.Query{}, "", journal.ErrUnavailable)
	}},
	{"AClosedJournalHasNoEvents", func(e *env) {
		r, j := e.reader()
		e.writer(j, "x").append("a")
		require.NoError(e, j.Close())
		e.requireEventsFail(e.Context(), r, journal.Query{}, "", journal.ErrClosed)
	}},
	{"ADamagedEventIsNamedAndTheNextFollow", func(e *env) {
		e.need(e.features.DamageRecord != nil, "DamageRecord")
		r, j := e.reader()
		e.appendTagged(j, slices.Repeat([][]string{{"red"}}, 10))
		e.await(r, "", 10)
		e.features.DamageRecord(e.T, j, "x", 6)
		for _, q := range []journal.Query{{}, {Tag: "red"}} {
			var seqs []uint64
			var damaged journal.Offset
			for entry, err := range r.Events(e.Context(), q, "") {
				seqs = append(seqs, entry.Record.Seq)
				require.Equal(e, "x", entry.ID)
				require.NotEmpty(e, entry.Offset)
				if entry.Record.Seq != 6 {
					require.NoError(e, err)
					continue
				}
				require.ErrorIs(e, err, journal.ErrCorrupt)
				damaged = entry.Offset
			}
			require.Equal(e, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, seqs)
			for i, entry := range e.events(r, q, damaged) {
				require.Equal(e, uint64(7+i), entry.Record.Seq, "a reader continues after it")
			}
		}
	}},
	{"WhatIsFoundBelongsToTheCaller", func(e *env) {
		r, j := e.reader()
		w := e.writer(j, "x")
		req := w.next("a")
		req.Records[0].Tags, req.Records[0].Meta = []string{"tag"}, map[string]string{"k": "v"}
		require.NoError(e, w.try(req))
		got := e.await(r, "", 1)
		spoil(&got[0].Record)
		again := e.events(r, journal.Query{}, "")[0].Record
		require.Equal(e, "a", string(again.Payload))
		require.Equal(e, []string{"tag"}, again.Tags)
		require.Equal(e, map[string]string{"k": "v"}, again.Meta)
	}},
}

// appendTagged appends an event to id x for each list of tags. Its payload is the number
// of the list.
func (e *env) appendTagged(j journal.Journal, tags [][]string) {
	e.Helper()
	w := e.writer(j, "x")
	for i, t := range tags {
		req := w.next(fmt.Sprint(i))
		req.Records[0].Tags = t
		require.NoError(e, w.try(req))
		w.last++
	}
}

func sliceAround(id string) journal.SliceRange {
	s := journal.SliceOf(id)
	return journal.SliceRange{From: s, To: s + 1}
}
