package history_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/history"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// at returns a time some seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func TestTheNewestEventsAreKeptAndComeFirst(t *testing.T) {
	r := history.New()
	require.Empty(t, r.Events("anna"))
	for i := range history.Size + 50 {
		r.Add(at(2*i), "member up", strconv.Itoa(i), "")
	}
	events := r.Events("anna")
	require.Len(t, events, history.Size)
	require.Equal(t, history.Event{Kind: "member up", Subject: "249", Node: "anna", Count: 1, First: at(498), Last: at(498)}, events[0])
	require.Equal(t, "50", events[history.Size-1].Subject)
}

func TestARepeatedEventIsCountedInOneEntry(t *testing.T) {
	r := history.New()
	r.Add(at(0), "founding a cluster", "anna", "")
	for i := range 1000 {
		r.Add(at(30*i), "still looking for a cluster", "anna", "no answer from bert")
	}
	events := r.Events("anna")
	require.Len(t, events, 2)
	require.Equal(t, history.Event{
		Kind: "still looking for a cluster", Subject: "anna", Reason: "no answer from bert", Node: "anna",
		Count: 1000, First: at(0), Last: at(30 * 999),
	}, events[0])
}

func TestEventsThatAlternateAreCountedToo(t *testing.T) {
	r := history.New()
	for i := range 500 {
		r.Add(at(4*i), "member unreachable", "bert", "")
		r.Add(at(4*i+2), "member reachable again", "bert", "")
	}
	events := r.Events("anna")
	require.Len(t, events, 2)
	require.Equal(t, "member reachable again", events[0].Kind, "the last one is the newest")
	require.EqualValues(t, 500, events[1].Count)
}

func TestARepetitionLongAfterwardsIsANewEntry(t *testing.T) {
	r := history.New()
	r.Add(at(0), "downing", "bert", "asked to")
	for i := range 8 {
		r.Add(at(10+2*i), "member up", strconv.Itoa(i), "")
	}
	r.Add(at(100), "downing", "bert", "asked to")
	events := r.Events("anna")
	require.Len(t, events, 10)
	require.EqualValues(t, 1, events[0].Count)
}

func TestManySubjectsAtOnceAreOneEntry(t *testing.T) {
	r := history.New()
	r.Add(at(0), "downing", "bert", "this side is the majority")
	for i := range 2000 {
		r.Add(at(0), "singleton moved", "s"+strconv.Itoa(i), "from bert to cleo")
	}
	r.Add(at(0), "singleton moved", "t", "from bert to dora")
	events := r.Events("anna")
	require.Len(t, events, 3, "what caused it is still there")
	require.Equal(t, "s0, s1, s2, s3 and others", events[1].Subject)
	require.EqualValues(t, 2000, events[1].Count)
	r.Add(at(5), "singleton moved", "u", "from bert to cleo")
	require.Equal(t, "u", r.Events("anna")[0].Subject, "it moved later than the others")
}

func TestLongTextsAreCutBetweenRunes(t *testing.T) {
	r := history.New()
	r.Add(at(0), "singleton failed", "ledger", "x"+strings.Repeat("ä", 1000))
	reason := r.Events("anna")[0].Reason
	require.Less(t, len(reason), 510)
	require.True(t, strings.HasSuffix(reason, "ä…"))
}

func TestAnyGoroutineMayAddAndRead(t *testing.T) {
	r := history.New()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				r.Add(at(i), "member up", "bert", "")
				require.NotEmpty(t, r.Events("anna"))
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 800, r.Events("anna")[0].Count)
}
