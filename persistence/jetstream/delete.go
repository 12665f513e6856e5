package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A cutFlag remembers that the stream has the note about cut messages. A message is cut if a
// deletion ended inside it, so that some of its records are deleted but still stored.
type cutFlag struct{ noted atomic.Bool }

// DeleteTo implements [journal.Journal]. It first stores a message that says up to which record the
// id is deleted, and then removes the earlier messages. If removing fails, the next deletion
// repeats it; until then only [Journal.Read] hides the deleted events.
func (j *Journal) DeleteTo(ctx context.Context, id string, epoch, seq uint64) error {
	return deleteRecords(ctx, j, id, epoch, seq, true)
}

// DeleteUnread implements [journal.Retainer].
func (j *Journal) DeleteUnread(ctx context.Context, id string, epoch, seq uint64) error {
	return deleteRecords(ctx, j, id, epoch, seq, false)
}

// deleteRecords stops before what readers have not read, if it is to.
func deleteRecords(ctx context.Context, j *Journal, id string, epoch, seq uint64, stops bool) error {
	return j.call(ctx, "delete", id, func(ctx context.Context) error {
		e, release := j.entity(id)
		defer release()
		d := deletion{j: j, id: id, seq: seq}
		if stops {
			d.asked = askReaders(j)
			defer d.asked.forget()
		}
		var keep []place
		p, err := j.change(ctx, id, e, func(ctx context.Context, p *position, fresh bool) (h head, _ []byte, err error) {
			if !fresh {
				return head{}, nil, errLook
			}
			if err := p.fence(epoch, fresh); err != nil {
				return head{}, nil, err
			}
			to, err := d.bound(ctx, p)
			if err != nil {
				return head{}, nil, err
			}
			h = p.next(kindDeletion)
			h.deletedTo = max(p.deletedTo, to)
			if keep, err = kept(ctx, j, id, p, h.deletedTo); err != nil {
				return head{}, nil, err
			}
			if h.deletedTo == p.deletedTo {
				return head{}, nil, errDone
			}
			h.snapshots, err = j.list(ctx, id, p, fresh)
			return h, nil, err
		})
		if err == nil {
			err = j.sweep(ctx, id, &p, keep)
		}
		if err == nil && d.unread != nil {
			err = d.unread
		}
		return err
	})
}

// kept returns the places of the records after deletedTo. If they begin inside a message, it notes
// that for readers.
func kept(ctx context.Context, j *Journal, id string, p *position, deletedTo uint64) ([]place, error) {
	if deletedTo == 0 || deletedTo == p.last {
		return nil, nil
	}
	keep, err := j.walk(ctx, id, p, deletedTo+1)
	if err == nil && keep[0].first <= deletedTo {
		err = noteCut(ctx, j)
	}
	return keep, err
}

func noteCut(ctx context.Context, j *Journal) error {
	if j.cut.noted.Load() {
		return nil
	}
	_, err := j.publish(ctx, j.subjects.cut(), nil, 0)
	if err != nil && !errors.Is(err, errStale) { // stale: the note exists already
		return notStored(ctx, err)
	}
	j.cut.noted.Store(true)
	return nil
}

// sweep removes the messages of id that are not needed at position p. keep has the messages with
// records.
func (j *Journal) sweep(ctx context.Context, id string, p *position, keep []place) error {
	if p.deletedTo == 0 {
		return nil
	}
	bound := p.at
	if p.state > 0 {
		bound = min(bound, p.state)
	}
	if len(keep) > 0 {
		bound = min(bound, keep[0].at)
	}
	if err := j.purge(ctx, j.events, j.subjects.entity(id), bound); err != nil {
		return unswept(ctx, err)
	}
	if p.large == 0 {
		return nil
	}
	bound, err := j.firstChunk(ctx, id, p, keep)
	if err == nil {
		err = j.purge(ctx, j.large, j.subjects.records(id), bound)
	}
	if err != nil {
		return unswept(ctx, err)
	}
	return nil
}

// firstChunk returns the first message of the large stream that may have kept records. Chunks are
// in the order of the messages that refer to them.
func (j *Journal) firstChunk(ctx context.Context, id string, p *position, keep []place) (uint64, error) {
	if len(keep) == 0 {
		return p.large + 1, nil
	}
	h, _, err := j.fetch(ctx, id, keep[0].at, keep[0].last)
	switch {
	case err != nil:
		return 0, err
	case len(h.chunks) > 0:
		return h.chunks[0], nil
	}
	return h.large + 1, nil
}

// unswept returns the error of a deletion that is stored but may have left messages.
func unswept(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("%w: deleted, but not all of it is removed yet: delete again: %w", journal.ErrUnknown, err)
}
