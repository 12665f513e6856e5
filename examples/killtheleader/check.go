package main

import (
	"fmt"
	"time"
)

// An ack is an answer that the client has received.
type ack struct {
	request string
	issued
	sent, acked time.Duration // since the trial began
}

// A row is a stored number, of a table or a journal. Rows are in the order in which they were
// stored.
type row struct {
	request string
	issued
	at time.Time
}

// A verdict says what the rows show about the acknowledged numbers.
type verdict struct {
	acked      int // acknowledged writes
	rows       int // stored writes
	lost       int // acknowledged, but not stored with that number
	duplicates int // rows with the number of an earlier row
	missing    int // numbers below the greatest that no row has
	stale      int // rows of a leader after the first row of a newer one
	repeated   int // rows of a request that has an earlier row
}

func (v verdict) String() string {
	return fmt.Sprintf("%d acknowledged, %d lost, %d duplicates, %d missing, %d of a replaced leader, %d requests stored again",
		v.acked, v.lost, v.duplicates, v.missing, v.stale, v.repeated)
}

// check compares what was acknowledged with what is stored.
func check(acks []ack, rows []row) verdict {
	v := verdict{acked: len(acks), rows: len(rows), stale: countTrue(staleRows(rows)), duplicates: countTrue(duplicateRows(rows))}
	type entry struct {
		request string
		number  int64
	}
	stored, requests, numbers := make(map[entry]bool, len(rows)), make(map[string]bool, len(rows)), make(map[int64]bool, len(rows))
	greatest := int64(0)
	for _, r := range rows {
		if requests[r.request] {
			v.repeated++
		}
		stored[entry{r.request, r.Number}], requests[r.request], numbers[r.Number] = true, true, true
		greatest = max(greatest, r.Number)
	}
	for _, a := range acks {
		if !stored[entry{a.request, a.Number}] {
			v.lost++
		}
	}
	for n := range greatest {
		if !numbers[n+1] {
			v.missing++
		}
	}
	return v
}

// duplicateRows says of each row whether its number is the number of an earlier row.
func duplicateRows(rows []row) []bool {
	duplicate, seen := make([]bool, len(rows)), make(map[int64]bool, len(rows))
	for i, r := range rows {
		duplicate[i] = seen[r.Number]
		seen[r.Number] = true
	}
	return duplicate
}

// staleRows says of each row whether a newer leader had stored a row before. A leader is newer than
// another if its first row is later. This needs no number from the election. It does not see that a
// leader was replaced before its own first row, or by one that has not written yet.
func staleRows(rows []row) []bool {
	stale, seen, newest := make([]bool, len(rows)), make(map[string]bool), ""
	for i, r := range rows {
		if !seen[r.Leader] {
			seen[r.Leader], newest = true, r.Leader
		}
		stale[i] = r.Leader != newest
	}
	return stale
}

func countTrue(flags []bool) (n int) {
	for _, flag := range flags {
		if flag {
			n++
		}
	}
	return n
}
