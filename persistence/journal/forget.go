package journal

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/internal/tenure"
)

// A Forgetter is a journal that can erase a persistence id. Any goroutine may call its methods.
// Programs call Forget and Revive of package persistence.
//
// An id that was forgotten has a tombstone: the journal keeps the id and its last epoch, and
// refuses its claims and its writes with [ErrForgotten]. Readers across ids find the tombstone as
// an entry; see [Entry.Forgotten].
type Forgetter interface {
	Journal

	// Forget fences the writer of id, and erases its records, snapshots and timers, and the tags of
	// its records. It returns when nothing more of them can be read from the store. An id that was
	// never claimed is left alone, without a tombstone.
	//
	// After an error, all may be there, or the id has its tombstone and some of its data is still
	// in the store: call it again. On an id that is forgotten it erases what is left.
	Forget(ctx context.Context, id string) error

	// Revive lets a forgotten id be claimed again: its records begin with sequence number 1, and
	// its epochs go on. Readers still find the tombstone, before the new records. Any other id is
	// left alone.
	Revive(ctx context.Context, id string) error
}

// ErrForgotten: the id was forgotten, and must not be written. It wraps [ErrFenced], so the actor
// stops and supervision does not restart it. If the id shall begin anew, call persistence.Revive.
var ErrForgotten = tenure.ErrForgotten

// typeForgotten is the type of the record of a tombstone.
const typeForgotten = "understudy/persistence.forgotten/1"

// Tombstone returns the record that readers find in place of an id that is forgotten now, with the
// epoch that fences its writer. Stores keep it with its checksum, and never return it from
// [Journal.Read].
func Tombstone(epoch uint64) Record {
	return Record{Epoch: epoch, Time: time.Now().UTC(), Type: typeForgotten}
}

// Forgotten reports whether the entry is the tombstone of its id: the records that the id had
// before are erased. Its record has sequence number 0 and no payload. A query selects the
// tombstones of its slices, whatever its tag, because the tags of an id are erased with it.
func (e *Entry) Forgotten() bool { return e.Record.Seq == 0 && e.Record.Type == typeForgotten }

// Forget implements [Forgetter].
func (j *Memory) Forget(ctx context.Context, id string) error {
	err := j.change(ctx, "forget", id, func() error {
		e := j.entities[id]
		if e == nil || e.forgotten {
			return nil
		}
		epoch, err := NextEpoch(e.epoch, Bounds{})
		if err != nil {
			return err
		}
		*e = entity{epoch: epoch, forgotten: true, tombstone: j.log.add(id, Tombstone(epoch))}
		j.log.erase(j.isDeleted)
		return nil
	})
	j.Notify()
	return err
}

// Revive implements [Forgetter].
func (j *Memory) Revive(ctx context.Context, id string) error {
	return j.change(ctx, "revive", id, func() error {
		if e := j.entities[id]; e != nil {
			e.forgotten = false
		}
		return nil
	})
}

// isDeleted reports whether readers no longer see e: its record is deleted, or is of an earlier
// life of its id.
func (j *Memory) isDeleted(e *entry) bool {
	of := j.entities[e.id]
	if e.ord <= of.tombstone {
		return e.ord < of.tombstone
	}
	return e.record.Seq <= of.deletedTo
}

// erase drops all deleted entries.
func (l *log) erase(gone func(*entry) bool) { l.forget(len(l.entries), gone) }
