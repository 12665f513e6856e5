// Package roster decides which entities of a shard are remembered, and what is to be written about
// them to a journal. It has no goroutines and no clock.
package roster

import (
	"maps"
	"slices"
)

// A Roster is the entities of one shard that run without a message, by id. It follows a store that
// writes one batch of changes at a time, and that may fail and be read again at any time. The zero
// Roster is empty.
type Roster struct {
	stored  map[string]bool // what the store has, as far as is known
	changes map[string]bool // what is to be written: to be remembered, or not
	writing map[string]bool // what is being written; nil while nothing is
}

// A Batch is what is written at once.
type Batch struct {
	Added, Removed []string // sorted
}

// maxBatch is how many changes are written at once.
const maxBatch = 1000

// Has reports whether the entity is remembered, as far as has been written and nothing else is
// wanted.
func (r *Roster) Has(id string) bool {
	if _, pending := r.pending(id); pending {
		return false
	}
	return r.stored[id]
}

// Remember wants the entity to be remembered. It reports whether that has been written already.
func (r *Roster) Remember(id string) (written bool) { return r.want(id, true) }

// Forget wants the entity not to be remembered any more.
func (r *Roster) Forget(id string) { r.want(id, false) }

// want wants the state of an entity. It reports whether that is what the store has.
func (r *Roster) want(id string, remembered bool) (written bool) {
	if was, underWay := r.writing[id]; underWay {
		delete(r.changes, id)
		if was != remembered {
			r.change(id, remembered)
		}
		return false
	}
	delete(r.changes, id)
	if r.stored[id] == remembered {
		return true
	}
	r.change(id, remembered)
	return false
}

func (r *Roster) change(id string, remembered bool) {
	if r.changes == nil {
		r.changes = map[string]bool{}
	}
	r.changes[id] = remembered
}

// pending returns what is wanted of an entity and has not been written.
func (r *Roster) pending(id string) (remembered, pending bool) {
	if remembered, pending = r.changes[id]; pending {
		return remembered, true
	}
	remembered, pending = r.writing[id]
	return remembered, pending
}

// Next returns the next batch to write. It returns false if there is nothing to write, or a batch
// is being written.
func (r *Roster) Next() (b Batch, ok bool) {
	if r.writing != nil || len(r.changes) == 0 {
		return b, false
	}
	r.writing = map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(r.changes)) {
		if len(r.writing) == maxBatch {
			break
		}
		if r.changes[id] {
			b.Added = append(b.Added, id)
		} else {
			b.Removed = append(b.Removed, id)
		}
		r.writing[id] = r.changes[id]
		delete(r.changes, id)
	}
	return b, true
}

// Busy reports whether something has not been written.
func (r *Roster) Busy() bool { return r.writing != nil || len(r.changes) > 0 }

// Written notes that the batch is durable. It returns the entities that are remembered from now on,
// and are still to be: sorted.
func (r *Roster) Written() (added []string) {
	if r.stored == nil {
		r.stored = map[string]bool{}
	}
	for id, remembered := range r.writing {
		if !remembered {
			delete(r.stored, id)
			continue
		}
		r.stored[id] = true
		if _, changed := r.changes[id]; !changed {
			added = append(added, id)
		}
	}
	r.writing = nil
	slices.Sort(added)
	return added
}

// Read notes that the store has been read, for the first time or after a failure: it has all. What
// was being written, and is not in the store, is to be written again. Read returns what Written
// returns.
func (r *Roster) Read(all []string) (added []string) {
	r.stored = map[string]bool{}
	for _, id := range all {
		r.stored[id] = true
	}
	under := r.writing
	r.writing = nil
	for id, remembered := range under {
		if _, newer := r.changes[id]; newer {
			continue
		}
		if r.stored[id] != remembered {
			r.change(id, remembered)
		} else if remembered {
			added = append(added, id)
		}
	}
	for id, remembered := range r.changes {
		if r.stored[id] == remembered {
			delete(r.changes, id)
			if remembered {
				added = append(added, id)
			}
		}
	}
	slices.Sort(added)
	return added
}
