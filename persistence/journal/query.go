package journal

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
)

// Slices is the number of slices into which persistence ids are divided, see [SliceOf]. Readers
// that share the work read one range of slices each.
const Slices = 1024

// SliceOf returns the slice of id, from 0 to [Slices]-1: the 32-bit FNV-1a hash of id modulo
// [Slices]. It never changes, and is the same in every process and journal.
func SliceOf(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return int(h.Sum32() % Slices)
}

// A SliceRange is the slices from From up to, but not including, To. The zero SliceRange is all
// slices.
type SliceRange struct{ From, To int }

// Contains reports whether slice is in r.
func (r SliceRange) Contains(slice int) bool {
	return r == (SliceRange{}) || r.From <= slice && slice < r.To
}

// Split divides all slices into n ranges of about the same size, one for each of n readers. It
// limits n to the range from 1 to [Slices].
func Split(n int) []SliceRange {
	n = min(max(n, 1), Slices)
	ranges := make([]SliceRange, n)
	for i := range ranges {
		ranges[i] = SliceRange{From: i * Slices / n, To: (i + 1) * Slices / n}
	}
	return ranges
}

// A Query selects events of a journal. The zero Query selects all.
type Query struct {
	Tag    string     // selects events with this tag; "" selects all
	Slices SliceRange // selects the persistence ids in these slices
}

// Validate returns [ErrInvalid] with the reason if no journal can answer q. Implementations of
// [EventReader] call it first.
func (q Query) Validate() error {
	if r := q.Slices; r != (SliceRange{}) && (r.From < 0 || r.To > Slices || r.From >= r.To) {
		return fmt.Errorf("%w: slices from %d to %d, of %d", ErrInvalid, r.From, r.To, Slices)
	}
	return validateText("the tag", q.Tag)
}

// An Offset is a position in the order of all events of one journal. A reader stores it to continue
// from there. Only the journal that has returned an offset can interpret it. "" is before the first
// event.
type Offset string

// An Entry is an event that was read across persistence ids.
type Entry struct {
	ID     string // the persistence id
	Offset Offset // of this event; reading after it continues with the next one
	Record Record
}

// An EventReader reads the events of a journal across persistence ids, in one order that never
// changes. Journals that have such an order implement it.
type EventReader interface {
	// Events yields the stored events that q selects and that come after the offset, in the order
	// of the journal, and then ends. A later call continues from the last [Entry.Offset]. Events
	// of one persistence id come in the order of their sequence numbers.
	//
	// A new event never appears before an event that a reader has already seen. If a write in
	// progress could still get an earlier position, Events waits for it or does not yield the later
	// events yet.
	//
	// Deleted events are left out silently; of a forgotten id there is its tombstone, see
	// [Entry.Forgotten]. A damaged event comes with an [ErrCorrupt] and an entry
	// that has its Offset and, as far as they are known, its ID and its Record.Seq; the next events
	// follow. Any other error has an entry without an Offset, and ends the sequence. An invalid
	// query, or an offset of another journal, is [ErrInvalid]. Events may be called from any
	// goroutine.
	Events(ctx context.Context, q Query, after Offset) iter.Seq2[Entry, error]

	// Appended returns a channel that is closed when something has been appended after the call, or
	// when the journal is closed. It covers at least the appends of this process; readers therefore
	// also poll. A store that cannot notice appends returns nil. It may be called from any
	// goroutine. A journal implements it by embedding a [Notifier].
	Appended() <-chan struct{}
}
