package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// check compares a history with the resulting journal, and returns the contradictions.
//
// Writes must be linearizable: each acknowledged entry is in the journal exactly once, at its
// acknowledged place, and behind all entries that were acknowledged before it was sent. An entry
// that was not acknowledged may be there or not. A read must return some state that the ledger has
// had up to then. It may be outdated, because a replaced instance that does not know it may still
// answer.
func check(h History, journal []Stored) (violations []string) {
	found := checkJournal(journal)
	places := placesOf(journal)
	found = append(found, checkEntries(h.Writes, journal, places)...)
	found = append(found, checkOrder(h.Writes, places)...)
	return append(found, checkReads(h, journal, places)...)
}

// checkJournal checks the numbers: places have no gap, and epochs never fall.
func checkJournal(journal []Stored) (found []string) {
	var epoch uint64
	for i, s := range journal {
		if s.Seq != uint64(i)+1 {
			found = append(found, fmt.Sprintf("record %d of the journal has the number %d", i+1, s.Seq))
		}
		if s.Epoch < epoch {
			found = append(found, fmt.Sprintf("record %d was written in epoch %d, after a record of epoch %d", s.Seq, s.Epoch, epoch))
		}
		epoch = max(epoch, s.Epoch)
	}
	return found
}

// placesOf returns the first place of each entry.
func placesOf(journal []Stored) map[Entry]uint64 {
	places := make(map[Entry]uint64, len(journal))
	for i, s := range journal {
		if _, ok := places[s.Entry]; !ok {
			places[s.Entry] = uint64(i) + 1
		}
	}
	return places
}

// checkEntries finds entries that were lost, written twice, or never sent.
func checkEntries(writes []Write, journal []Stored, places map[Entry]uint64) (found []string) {
	sent := make(map[Entry]bool, len(writes))
	for _, w := range writes {
		sent[w.Entry] = true
		switch place := places[w.Entry]; {
		case !w.acked():
		case place == 0:
			found = append(found, fmt.Sprintf("%v was acknowledged at %v and is not in the journal", w.Entry, w.Returned))
		case w.Place != 0 && w.Place != place:
			found = append(found, fmt.Sprintf("%v was acknowledged at place %d and stands at %d", w.Entry, w.Place, place))
		}
	}
	for i, s := range journal {
		switch place := uint64(i) + 1; {
		case places[s.Entry] != place:
			found = append(found, fmt.Sprintf("%v is in the journal at %d and at %d", s.Entry, places[s.Entry], place))
		case !sent[s.Entry]:
			found = append(found, fmt.Sprintf("%v is in the journal at %d, and nobody has sent it", s.Entry, place))
		}
	}
	return found
}

// checkOrder finds entries that stand before an entry that was acknowledged before they were sent.
func checkOrder(writes []Write, places map[Entry]uint64) (found []string) {
	there := slices.DeleteFunc(slices.Clone(writes), func(w Write) bool { return places[w.Entry] == 0 })
	slices.SortFunc(there, func(a, b Write) int { return cmp.Compare(places[b.Entry], places[a.Entry]) })
	first := Write{Returned: math.MaxInt64} // acknowledged, of those that stand behind
	for _, w := range there {               // the last place first
		if first.Returned < w.Invoked {
			found = append(found, fmt.Sprintf("%v was acknowledged at %v, %v was sent at %v, and stands before it",
				first.Entry, first.Returned, w.Entry, w.Invoked))
		}
		if w.acked() && w.Returned < first.Returned {
			first = w
		}
	}
	return found
}

// checkReads finds answers that never were the state of the ledger, or only later.
func checkReads(h History, journal []Stored, places map[Entry]uint64) (found []string) {
	sums := make([]Sum, 1, len(journal)+1)
	for _, s := range journal {
		sums = append(sums, sums[len(sums)-1].add(s.Entry))
	}
	invoked := make([]time.Duration, len(journal)+1) // when all up to a place had been sent
	for _, w := range h.Writes {
		invoked[places[w.Entry]] = w.Invoked
	}
	invoked[0] = 0 // also of those that are nowhere
	for i := 1; i < len(invoked); i++ {
		invoked[i] = max(invoked[i], invoked[i-1])
	}
	for _, r := range h.Reads {
		switch {
		case r.Sum.Length > uint64(len(journal)):
			found = append(found, fmt.Sprintf("at %v the ledger had %d entries, of %d in the end", r.Returned, r.Sum.Length, len(journal)))
		case r.Sum != sums[r.Sum.Length]:
			found = append(found, fmt.Sprintf("at %v the ledger had other entries than the first %d of the journal", r.Returned, r.Sum.Length))
		case invoked[r.Sum.Length] > r.Returned:
			found = append(found, fmt.Sprintf("at %v the ledger had an entry that was sent at %v", r.Returned, invoked[r.Sum.Length]))
		}
	}
	return found
}

// staleReads returns how many reads missed an entry that was acknowledged before they were sent,
// and the longest such time. Stale reads are no violation: see check.
func staleReads(h History, journal []Stored) (n int, worst time.Duration) {
	places := placesOf(journal)
	acked := make([]time.Duration, len(journal)+2) // the earliest of those that stand there or behind
	for i := range acked {
		acked[i] = math.MaxInt64
	}
	for _, w := range h.Writes {
		if place := places[w.Entry]; place > 0 && w.acked() {
			acked[place] = w.Returned
		}
	}
	for i := len(acked) - 2; i >= 0; i-- {
		acked[i] = min(acked[i], acked[i+1])
	}
	for _, r := range h.Reads {
		if r.Sum.Length > uint64(len(journal)) {
			continue
		}
		if late := r.Invoked - acked[r.Sum.Length+1]; late > 0 {
			n, worst = n+1, max(worst, late)
		}
	}
	return n, worst
}
