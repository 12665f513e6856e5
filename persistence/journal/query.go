package journal

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
)

// Slices is into how many slices persistence ids fall, see [SliceOf]. Readers that share
// the work between them take ranges of slices.
const Slices = 1024

// SliceOf returns the slice of id, from 0 to [Slices]-1: the same for ever, in every
// process and journal. It is the 32-bit FNV-1a hash of id modulo [Slices].
func SliceOf(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return int(h.Sum32() % Slices)
}

// A SliceRange is the slices from From up to but without To. The zero SliceRange is all.
type SliceRange struct{ From, To int }

// Contains reports whether slice is in r.
func (r SliceRange) Contains(slice int) bool {
	return r == (SliceRange{}) || r.From <= slice && slice < r.To
}

// Split divides all slices into n ranges of about the same size, one for each of n
// readers. N must be from 1 to [Slices]; other numbers are taken for the nearest.
func Split(n int) []SliceRange {
	n = min(max(n, 1), Slices)
	ranges := make([]SliceRange, n)
	for i := range ranges {
		ranges[i] = SliceRange{From: i * Slices / n, To: (i + 1) * Slices / n}
	}
	return ranges
}

// A Query says which events of a journal are asked for. The zero Query asks for all.
type Query struct {
	Tag    string     // those with this tag; "" for all
	Slices SliceRange // those of persistence ids in these slices
}

// Validate returns [ErrInvalid] with the reason when q cannot be answered by any journal.
// Readers call it first.
func (q Query) Validate() error {
	if r := q.Slices; r != (SliceRange{}) && (r.From < 0 || r.To > Slices || r.From >= r.To) {
		return fmt.Errorf("%w: slices from %d to %d, of %d", ErrInvalid, r.From, r.To, Slices)
	}
	return validateText("the tag", q.Tag)
}

// An Offset is a position in the order of all events of one journal: what a reader keeps
// to go on where it has been. It is text that only the journal understands which has made
// it. "" is before the first event.
type Offset string

// An Entry is an event as it is found across persistence ids.
type Entry struct {
	ID     string // the persistence id
	Offset Offset // of this event: reading after it goes on with the next
	Record Record
}

// An EventReader is a journal whose events can be read across persistence ids. Some have
// an order of all events that readers can rely on; those are EventReaders.
type EventReader interface {
	// Events yields the events that q asks for and that come after an offset, in the order
	// of the journal, as far as they are stored by now; then it ends, and a later call
	// goes on from the last [Entry.Offset]. Events of one persistence id come in the order
	// of their sequence numbers.
	//
	// No event ever turns up before one that a reader has seen: what is being stored at
	// the same time, and may still come before it, is waited for or not yet shown.
	//
	// Deleted events are not there, and nothing says so. A damaged one ends the sequence
	// with [ErrCorrupt]. A query that is not valid, and an offset that this journal has
	// not made, are [ErrInvalid]. It may be called from any goroutine.
	Events(ctx context.Context, q Query, after Offset) iter.Seq2[Entry, error]

	// Appended returns a channel that is closed when something has been appended after the
	// call, or when the journal is closed. It covers at least the appends of this process;
	// readers therefore also poll. A reader that cannot tell returns nil. It may be called
	// from any goroutine. A journal implements it by embedding a [Notifier].
	Appended() <-chan struct{}
}
