package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Call is a visit of a list as its client saw it. Times are those of clock.
type Call struct {
	List     string
	Entry    Entry // zero for a read
	Invoked  time.Duration
	Returned time.Duration // 0 without an answer: the outcome is unknown
	Content  Content
}

func (c Call) answered() bool { return c.Returned > 0 }

func (c Call) reads() bool { return c.Entry == (Entry{}) }

// checkList compares the history of one list with its journal, in which each visit is a record, and
// returns the contradictions.
//
// The history must be linearizable, and the journal must be its order. So each acknowledged entry
// is there exactly once, where its answer says. Each answer has the list as it was at that length.
// A visit that began after the end of another one has seen its entry. Each record must be of the
// generation that has answered.
func checkList(calls []Call, journal []Stored) (found []string) {
	found = checkJournal(journal)
	appended := slices.DeleteFunc(slices.Clone(journal), func(s Stored) bool { return s.Entry == (Entry{}) })
	places := placesOf(appended)
	found = append(found, checkEntries(writesOf(calls), appended, places)...)
	found = append(found, checkContents(calls, appended)...)
	found = append(found, checkWriters(calls, appended, places)...)
	return append(found, checkMoments(calls, places)...)
}

// writesOf returns the appends of calls.
func writesOf(calls []Call) (writes []Write) {
	for _, c := range calls {
		if !c.reads() {
			writes = append(writes, Write{Entry: c.Entry, Invoked: c.Invoked, Returned: c.Returned, Place: c.Content.Sum.Length})
		}
	}
	return writes
}

// checkContents finds answers that have other entries than the journal.
func checkContents(calls []Call, appended []Stored) (found []string) {
	sums := make([]Sum, 1, len(appended)+1)
	for _, s := range appended {
		sums = append(sums, sums[len(sums)-1].add(s.Entry))
	}
	for _, c := range calls {
		switch length := c.Content.Sum.Length; {
		case !c.answered():
		case length > uint64(len(appended)):
			found = append(found, fmt.Sprintf("at %v it had %d entries, of %d in the end", c.Returned, length, len(appended)))
		case c.Content.Sum != sums[length]:
			found = append(found, fmt.Sprintf("at %v it had other entries than the first %d of the journal", c.Returned, length))
		}
	}
	return found
}

// checkWriters finds entries that another generation has written than the one that has acknowledged
// them.
func checkWriters(calls []Call, appended []Stored, places map[Entry]uint64) (found []string) {
	for _, c := range calls {
		place := places[c.Entry]
		if c.reads() || !c.answered() || place == 0 {
			continue
		}
		if wrote := appended[place-1].Epoch >> 32; wrote != c.Content.Generation.Term {
			found = append(found, fmt.Sprintf("%v was acknowledged by generation %d, and written by %d", c.Entry, c.Content.Generation.Term, wrote))
		}
	}
	return found
}

// checkMoments finds visits that began when another one had ended which comes later in the order of
// the journal. As no entry is there twice, that order is the only one in which the answers could
// have been given, except for reads of the same list. So a history in which it finds nothing is
// linearizable, and one in which it finds something is not.
func checkMoments(calls []Call, places map[Entry]uint64) (found []string) {
	ordered := make([]moment, 0, len(calls))
	for _, c := range calls {
		if m, ok := momentOf(c, places); ok {
			ordered = append(ordered, m)
		}
	}
	slices.SortFunc(ordered, func(a, b moment) int { return cmp.Compare(b.at, a.at) }) // the last first
	first, next := ended(), ended()                                                    // to end, of those that come later
	for i, m := range ordered {
		if i > 0 && ordered[i-1].at != m.at {
			first = next
		}
		if first.Returned < m.Invoked {
			found = append(found, fmt.Sprintf("%v and %v contradict the order of the journal", first.Call, m.Call))
		}
		if m.Returned < next.Returned {
			next = m
		}
	}
	return found
}

// A moment is a call, and its place in the order of all calls of its list. Reads of the same list
// have the same one.
type moment struct {
	Call

	at uint64
}

// ended returns a moment that comes after all others, and never ends.
func ended() moment { return moment{Call: Call{Returned: math.MaxInt64}, at: math.MaxUint64} }

// momentOf returns the moment of a call; ok is false if it has had none.
func momentOf(c Call, places map[Entry]uint64) (m moment, ok bool) {
	switch place := places[c.Entry]; {
	case c.reads():
		return moment{c, 2*c.Content.Sum.Length + 1}, c.answered()
	case c.answered():
		return moment{c, 2 * c.Content.Sum.Length}, true
	default:
		c.Returned = math.MaxInt64
		return moment{c, 2 * place}, place > 0
	}
}

// String describes the visit, its times and its answer.
func (c Call) String() string {
	what := "a read"
	if !c.reads() {
		what = fmt.Sprintf("%v", c.Entry)
	}
	if !c.answered() || c.Returned == math.MaxInt64 {
		return fmt.Sprintf("%s (sent at %v)", what, c.Invoked)
	}
	return fmt.Sprintf("%s (sent at %v, answered at %v by generation %v: %d entries)", what, c.Invoked, c.Returned, c.Content.Generation, c.Content.Sum.Length)
}
