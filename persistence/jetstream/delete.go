package jetstream

import (
	"context"
	"errors"
	"fmt"
	"github.com/understudy-go/understudy/persistence/journal"
	"sync/atomic"
)

// A cutFlag remembers that it is noted in the stream that a deletion has ended inside of a
// message, so that some of its records are deleted and still there.
type cutFlag struct{ noted atomic.Bool }

// DeleteTo implements [journal.Journal]. It stores a message that says how far records
// are deleted; then it removes the messages before. What it could not remove for a failure,
// the next deletion does; until then events are hidden from [Journal.Read] alone.
func (j *Journal) DeleteTo(ctx context.Context, id string, epoch, seq uint64) error {
	return j.call(ctx, "delete", id, func(ctx context.Context) error {
		e, release := j.entity(id)
		defer release()
		var keep []place
		p, err := j.change(ctx, id, e, func(ctx context.Context, p *position, fresh bool) (h head, _ []byte, err error) {
			if !fresh {
				return head{}, nil, errLook
			}
			if err := p.fence(epoch, fresh); err != nil {
				return head{}, nil, err
			}
			h = p.next(kindDeletion)
			h.deletedTo = max(p.deletedTo, min(seq, p.last))
			if keep, err = j.kept(ctx, id, p, h.deletedTo); err != nil {
				return head{}, nil, err
			}
			if h.deletedTo == p.deletedTo {
				return head{}, nil, errDone
			}
			h.snapshots, err = j.list(ctx, id, p, fresh)
			return h, nil, err
		})
		if err != nil {
			return err
		}
		return j.sweep(ctx, id, &p, keep)
	})
}

// kept returns the places of the records after deletedTo. When they begin inside of a
// message, it sees to it that readers know.
func (j *Journal) kept(ctx context.Context, id string, p *position, deletedTo uint64) ([]place, error) {
	if deletedTo == 0 || deletedTo == p.last {
		return nil, nil
	}
	keep, err := j.walk(ctx, id, p, deletedTo+1)
	if err == nil && keep[0].first <= deletedTo {
		err = j.noteCut(ctx)
	}
	return keep, err
}

func (j *Journal) noteCut(ctx context.Context) error {
	if j.cut.noted.Load() {
		return nil
	}
	_, err := j.publish(ctx, j.subjects.cut(), nil, 0)
	if err != nil && !errors.Is(err, errStale) { // stale: it is noted
		return notStored(ctx, err)
	}
	j.cut.noted.Store(true)
	return nil
}

// sweep removes the messages of id that are of no use at p, where keep are those with
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

// firstChunk returns before which message of the large stream no chunk has records that
// are kept. Chunks come in the order of the messages that refer to them.
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

// unswept says that the deletion is stored, but that messages may be left.
func unswept(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("%w: deleted, but not all of it is removed yet: delete again: %w", journal.ErrUnknown, err)
}
