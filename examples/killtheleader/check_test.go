package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rowsOf makes rows of texts as "a1": leader a has stored number 1.
func rowsOf(texts ...string) (rows []row) {
	for i, text := range texts {
		var r row
		_, _ = fmt.Sscanf(text, "%1s%d", &r.Leader, &r.Number)
		r.request = fmt.Sprint("r", i)
		rows = append(rows, r)
	}
	return rows
}

func acksOf(rows []row) (acks []ack) {
	for _, r := range rows {
		acks = append(acks, ack{request: r.request, issued: r.issued})
	}
	return acks
}

func TestTheCheckCountsWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name string
		rows []row
		want verdict
	}{
		{"nothing", nil, verdict{}},
		{"two leaders in turn", rowsOf("a1", "a2", "b3", "b4"), verdict{}},
		{"the old leader writes on", rowsOf("a1", "b2", "a2", "b3", "a3"), verdict{duplicates: 2, stale: 2}},
		{"a stale write with a number of its own", rowsOf("a1", "b2", "a3", "b4"), verdict{stale: 1}},
		{"a gap behind a duplicate", rowsOf("a1", "a1", "a3"), verdict{duplicates: 1, missing: 1}},
		{"a gap", rowsOf("a1", "a2", "b5"), verdict{missing: 2}},
		{"a leader of a new term", rowsOf("a1", "b2", "c3"), verdict{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.acked, c.want.rows = len(c.rows), len(c.rows)
			require.Equal(t, c.want, check(acksOf(c.rows), c.rows))
		})
	}
}

func TestAnAcknowledgedNumberMustBeStoredWithItsRequest(t *testing.T) {
	rows := rowsOf("a1", "a2", "a3")
	acks := acksOf(rows)
	acks[2].Number = 4
	require.Equal(t, 1, check(acks, rows).lost, "stored with another number")
	require.Equal(t, 2, check(acks, rows[:1]).lost, "not stored")
	require.Zero(t, check(acks[:1], rows).lost, "a stored number need not be acknowledged")
	rows[2].request = rows[0].request
	require.Equal(t, 1, check(nil, rows).repeated, "stored twice")
	require.Zero(t, check(acks[:1], rows).lost, "the earlier of two rows of the request has the number")
}

func TestTheOutageIsTheLongestGapThatOverlapsTheFault(t *testing.T) {
	times := []time.Duration{1, 2, 3, 10, 11, 30, 31}
	require.EqualValues(t, 7, longestGap(times, 5, 10), "around the strike")
	require.EqualValues(t, 7, longestGap(times, 3, 11), "from the strike on")
	require.EqualValues(t, 9, longestGap(times, 5, 20), "the longer of two, up to the end")
	require.EqualValues(t, 7, longestGap(times, 3, 12), "not the outage of the next fault")
	require.EqualValues(t, 9, longestGap(times, 31, 40), "not over yet")
	require.EqualValues(t, 5, longestGap(nil, 0, 5), "no answer at all")
}

func TestTheMedianOfTwoIsTheLower(t *testing.T) {
	require.EqualValues(t, 2, median([]time.Duration{3, 2}))
	require.EqualValues(t, 3, median([]time.Duration{9, 2, 3}))
	require.Zero(t, median(nil))
}
