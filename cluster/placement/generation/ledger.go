package generation

import (
	"container/list"
	"iter"
	"maps"
)

// A ledger is what has been read of the log: the newest entry of each label, and where in
// the log that is.
type ledger struct {
	rows map[string]*list.Element // of *row
	byAt *list.List               // ascending
}

// A row is an entry with its sequence number in the log.
type row struct {
	entry
	at uint64
}

func newLedger() ledger { return ledger{rows: map[string]*list.Element{}, byAt: list.New()} }

// fold takes the place of what was known of the label. It must be newer than all the others.
func (l ledger) fold(at uint64, e entry) {
	label := string(e.Label)
	if known, ok := l.rows[label]; ok {
		known.Value = &row{e, at}
		l.byAt.MoveToBack(known)
		return
	}
	l.rows[label] = l.byAt.PushBack(&row{e, at})
}

// oldest yields the rows as they follow each other in the log.
func (l ledger) oldest() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for at := l.byAt.Front(); at != nil; at = at.Next() {
			if !yield(at.Value.(*row)) {
				return
			}
		}
	}
}

// A sheet is a ledger with changes that are not stored yet.
type sheet struct {
	ledger
	changed map[string]entry
}

func (l ledger) sheet() sheet { return sheet{l, map[string]entry{}} }

func (s sheet) get(label string) entry {
	if e, ok := s.changed[label]; ok {
		return e
	}
	if known, ok := s.rows[label]; ok {
		return known.Value.(*row).entry
	}
	return entry{Label: []byte(label)}
}

func (s sheet) put(label string, e entry) { s.changed[label] = e }

func (s sheet) all() iter.Seq[entry] {
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
