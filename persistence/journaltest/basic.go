package journaltest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var basicLaws = []law{
	{"ANewIDHasNoRecords", func(e *env) {
		claim := e.writer(e.journal(), "x").claim
		require.Positive(e, claim.Epoch)
		require.Zero(e, claim.LastSeq)
		require.Zero(e, claim.DeletedTo)
	}},
	{"AnUnknownIDReadsAsNothing", func(e *env) {
		require.Empty(e, e.read(e.journal(), "nobody", 1, everything))
	}},
	{"EveryFieldComesBack", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		req := w.next("payload")
		full := fullRecord()
		full.Seq, full.Epoch = req.Records[0].Seq, req.Epoch
		req.Records[0] = full
		require.NoError(e, w.try(req))

		got := e.read(j, "x", 1, 1)[0]
		require.True(e, full.Time.Equal(got.Time), "%v, want %v", got.Time, full.Time)
		require.Equal(e, time.UTC, got.Time.Location())
		full.Time = got.Time
		require.Equal(e, full, got)
	}},
	{"ARecordMayBeEmpty", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		bare := journal.Record{Seq: 1, Epoch: w.claim.Epoch}
		empty := journal.Record{Seq: 2, Epoch: w.claim.Epoch, Tags: []string{}, Meta: map[string]string{}, Payload: []byte{}}
		require.NoError(e, w.try(journal.AppendRequest{ID: "x", Epoch: w.claim.Epoch, Records: []journal.Record{bare, empty}}))
		for _, r := range e.read(j, "x", 1, everything) {
			require.Empty(e, r.Payload)
			require.Empty(e, r.Tags)
			require.Empty(e, r.Meta)
			require.Empty(e, r.Type)
			require.True(e, r.Time.IsZero(), "%v", r.Time)
		}
	}},
	{"ARequestIsStoredInItsOrder", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("a", 50)...)
		w.append(numbered("b", 1)...)
		require.Equal(e, slices.Concat(numbered("a", 50), numbered("b", 1)), e.payloads(j, "x"))
		require.Equal(e, uint64(51), e.writer(j, "x").claim.LastSeq)
	}},
	{"AMalformedRequestStoresNothing", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		empty := w.next()
		gap := w.next("a", "b")
		gap.Records[1].Seq++
		misfit := w.next("a")
		misfit.Records[0].Seq++
		foreign := w.next("a", "b")
		foreign.Records[1].Epoch++
		text := w.next("a", "b")
		text.Records[1].Type = "\xff"
		for _, req := range []journal.AppendRequest{empty, gap, misfit, foreign, text} {
			require.ErrorIs(e, w.try(req), journal.ErrInvalid)
		}
		require.Empty(e, e.read(j, "x", 1, everything))
		w.append("a")
	}},
	{"ReadKeepsToItsLimits", func(e *env) {
		j := e.journal()
		e.writer(j, "x").append(numbered("e", 10)...)
		for _, c := range []struct{ from, to, first, n uint64 }{
			{1, 10, 1, 10},
			{0, 10, 1, 10},
			{0, everything, 1, 10},
			{3, 5, 3, 3},
			{10, 10, 10, 1},
			{8, 12, 8, 3},
			{11, 11, 0, 0},
			{11, everything, 0, 0},
			{5, 4, 0, 0},
			{0, 0, 0, 0},
			{everything, everything, 0, 0},
		} {
			records := e.read(j, "x", c.from, c.to)
			require.Len(e, records, int(c.n), "%d to %d", c.from, c.to)
			if c.n > 0 {
				require.Equal(e, c.first, records[0].Seq)
			}
		}
	}},
	{"AReaderMayStopAtAnyRecord", func(e *env) {
		j := e.journal()
		e.writer(j, "x").append(numbered("e", 20)...)
		for i := range 300 {
			seen := 0
			for _, err := range j.Read(e.Context(), "x", 1, everything) {
				require.NoError(e, err)
				if seen++; seen > i%20 {
					break
				}
			}
		}
		require.Len(e, e.read(j, "x", 1, everything), 20)
	}},
	{"AReaderMayUseTheJournal", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 20)...)
		for _, err := range j.Read(e.Context(), "x", 1, 20) {
			require.NoError(e, err)
			require.Len(e, e.read(j, "x", 1, 20), 20)
			w.append("more")
		}
		require.Len(e, e.read(j, "x", 1, everything), 40)
	}},
	{"LargeMetadataIsStored", func(e *env) { // the keys and replies of persistence.Once
		j := e.journal()
		w := e.writer(j, "x")
		req := w.next("a")
		meta := map[string]string{"k": strings.Repeat("m", 6<<20)}
		req.Records[0].Meta = meta
		require.NoError(e, w.try(req))
		got := e.read(j, "x", 1, 1)
		require.Len(e, got, 1)
		require.True(e, maps.Equal(meta, got[0].Meta))
	}},
	{"LargePayloadsAreStoredOrRefused", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		large := strings.Repeat("m", 1<<20)
		w.append(large)
		huge := strings.Repeat("h", 16<<20)
		if err := w.try(w.next(huge)); err != nil {
			require.ErrorIs(e, err, journal.ErrTooLarge)
			huge = "instead"
			w.append(huge)
		}
		require.True(e, slices.Equal([]string{large, huge}, e.payloads(j, "x")))
	}},
	{"WhatIsPassedInIsNotKept", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		req := w.next("a")
		req.Records[0].Tags, req.Records[0].Meta = []string{"tag"}, map[string]string{"k": "v"}
		require.NoError(e, w.try(req))
		spoil(&req.Records[0])
		got := e.read(j, "x", 1, 1)[0]
		require.Equal(e, "a", string(got.Payload))
		require.Equal(e, []string{"tag"}, got.Tags)
		require.Equal(e, map[string]string{"k": "v"}, got.Meta)

		spoil(&got)
		require.Equal(e, "a", string(e.read(j, "x", 1, 1)[0].Payload))
		require.Equal(e, []string{"tag"}, e.read(j, "x", 1, 1)[0].Tags)
		require.Equal(e, map[string]string{"k": "v"}, e.read(j, "x", 1, 1)[0].Meta)
	}},
}

func fullRecord() journal.Record {
	meta := map[string]string{"": "", "trace": "0af7651916cd43dd", `quote"`: "line\nbreak", "größe": "ß <&> \u2028"}
	return journal.Record{
		Writer: journal.WriterID{0, 1, 2, 253, 254, 255},
		Time:   time.Date(1969, 7, 20, 20, 17, 40, 123_456_789, time.FixedZone("elsewhere", -5*3600)),
		Type:   "bank.deposited/v2",
		Tags:   []string{"red", "with space", "ünï", "red"},
		Meta:   meta, Payload: []byte{0, 255, 0x27, '"', '\n'},
	}
}

func spoil(r *journal.Record) {
	r.Payload[0]++
	r.Tags[0] = "spoiled"
	r.Meta["k"] = "spoiled"
}
