package journal

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
)

const offsetPrefix = "memory:"

// pageEntries bounds the entries that are examined with the lock held.
const pageEntries = 1024

// Events implements [EventReader]. An offset is the number of the event among all events
// ever stored, so it stays valid when events are deleted. An offset beyond the newest event is
// refused; it belongs to another journal.
func (j *Memory) Events(ctx context.Context, q Query, after Offset) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := &reading{journal: j, query: q}
		err := r.begin(ctx, after)
		for err == nil && r.next < r.last {
			if err = r.page(ctx); err != nil {
				break
			}
			for i := range r.found {
				if ctx.Err() != nil {
					err = unavailable(ctx)
					break
				}
				if !yield(r.found[i].export(), nil) {
					return
				}
			}
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("read events: %w", err))
		}
	}
}

type reading struct {
	journal *Memory
	query   Query
	next    uint64 // entries up to this number have been examined
	last    uint64 // the number of the newest record when the call began
	found   []*entry
}

func (r *reading) begin(ctx context.Context, after Offset) error {
	if err := r.query.Validate(); err != nil {
		return err
	}
	var err error
	if r.next, err = parseOffset(after); err != nil {
		return err
	}
	r.journal.mu.RLock()
	defer r.journal.mu.RUnlock()
	r.last = r.journal.log.last
	if err := r.journal.usable(ctx); err != nil {
		return err
	}
	if r.next > r.last {
		return fmt.Errorf("%w: offset %q is beyond the last event, %d: it belongs to another journal", ErrInvalid, after, r.last)
	}
	return nil
}

func (r *reading) page(ctx context.Context) error {
	r.journal.mu.RLock()
	defer r.journal.mu.RUnlock()
	if err := r.journal.usable(ctx); err != nil {
		return err
	}
	r.found = r.found[:0]
	rest := r.journal.log.after(r.next)
	rest = rest[:min(len(rest), pageEntries)]
	for i := range rest {
		if e := &rest[i]; e.ord <= r.last && r.wants(e) {
			r.found = append(r.found, e)
		}
	}
	r.next = r.last
	if len(rest) == pageEntries {
		r.next = rest[len(rest)-1].ord
	}
	return nil
}

func (r *reading) wants(e *entry) bool {
	return (r.query.Tag == "" || slices.Contains(e.record.Tags, r.query.Tag) || e.record.Seq == 0) &&
		r.query.Slices.Contains(SliceOf(e.id)) && !r.journal.isDeleted(e)
}

func (e *entry) export() Entry {
	return Entry{ID: e.id, Offset: formatOffset(e.ord), Record: clone(&e.record)}
}

func formatOffset(ord uint64) Offset {
	return Offset(offsetPrefix + strconv.FormatUint(ord, 10))
}

func parseOffset(o Offset) (uint64, error) {
	if o == "" {
		return 0, nil
	}
	ord, err := strconv.ParseUint(strings.TrimPrefix(string(o), offsetPrefix), 10, 63)
	if err != nil || formatOffset(ord) != o {
		return 0, fmt.Errorf("%w: %q is not an offset of a journal in memory", ErrInvalid, o)
	}
	return ord, nil
}

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

func (l *log) add(id string, r Record) (ord uint64) {
	l.last++
	l.entries = append(l.entries, entry{ord: l.last, id: id, record: r})
	return l.last
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
