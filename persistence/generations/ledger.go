package generations

import (
	"container/list"
	"iter"
	"maps"
)

// A ledger has the part of the log that has been read: the newest entry of each label, and its
// position in the log.
type ledger struct {
	rows map[string]*list.Element // of *row
	byAt *list.List               // of *row, ascending by position
}

// A row is an entry with its sequence number in the log.
type row struct {
	entry
	at uint64
}

func newLedger() ledger { return ledger{rows: map[string]*list.Element{}, byAt: list.New()} }

// fold replaces the entry of a label. The new one must come after all others in the log.
func (l ledger) fold(at uint64, e entry) {
	label := string(e.Label)
	if known, ok := l.rows[label]; ok {
		known.Value = &row{e, at}
		l.byAt.MoveToBack(known)
		return
	}
	l.rows[label] = l.byAt.PushBack(&row{e, at})
}

// oldest yields the rows in the order of the log.
func (l ledger) oldest() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for at := l.byAt.Front(); at != nil; at = at.Next() {
			if !yield(at.Value.(*row)) {
				return
			}
		}
	}
}

// A staged is a ledger with changes that have not been stored yet.
type staged struct {
	ledger
	changed map[string]entry
}

func (l ledger) staged() staged { return staged{l, map[string]entry{}} }

// get returns the entry of a label. A label without one has an empty entry.
func (s staged) get(label string) entry {
	if e, ok := s.changed[label]; ok {
		return e
	}
	if known, ok := s.rows[label]; ok {
		return known.Value.(*row).entry
	}
	return entry{Label: []byte(label)}
}

func (s staged) put(label string, e entry) { s.changed[label] = e }

func (s staged) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for r := range s.oldest() {
			if _, ok := s.changed[string(r.Label)]; !ok && !yield(r.entry) {
				return
			}
		}
		for e := range maps.Values(s.changed) {
			if !yield(e) {
				return
			}
		}
	}
}
