package journal

import (
	"slices"
	"sort"
)

// A log has the records of all entities in the order of the appends.
type log struct {
	last    uint64 // the number of the newest entry ever
	entries []entry
	deleted int // the number of entries that are deleted
}

// An entry is a record with its number in the order of the journal. It never changes.
type entry struct {
	ord    uint64
	id     string
	record Record
}

func (l *log) add(id string, r Record) {
	l.last++
	l.entries = append(l.entries, entry{ord: l.last, id: id, record: r})
}

// forget records that n more entries are deleted. It removes them once they are more than half.
func (l *log) forget(n int, gone func(*entry) bool) {
	l.deleted += n
	if 2*l.deleted > len(l.entries) {
		l.entries = slices.DeleteFunc(slices.Clone(l.entries), func(e entry) bool { return gone(&e) })
		l.deleted = 0
	}
}

func (l *log) after(ord uint64) []entry {
	return l.entries[sort.Search(len(l.entries), func(i int) bool { return l.entries[i].ord > ord }):]
}
