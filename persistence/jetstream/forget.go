package jetstream

import (
	"context"
	"fmt"

	js "github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Forget implements [journal.Forgetter]. It stores a message in place of all earlier ones of the
// id, its tombstone, and has the servers remove those. Servers do not overwrite what they remove:
// its bytes stay in their files until they compact them. If that must not be, encrypt what is
// stored, with a key for each subject: codec.NewSubjects of package persistence/codec.
//
// A writer in another process that was just storing a large record or a snapshot may leave a part
// of it, which nobody reads; another call removes it. A later [Journal.DeleteTo] of a revived id
// removes its tombstone, too.
func (j *Journal) Forget(ctx context.Context, id string) error {
	return j.saving(ctx, "forget", id, func(ctx context.Context, e *entity) error {
		tries := 0
		p, err := j.change(ctx, id, e, func(_ context.Context, p *position, fresh bool) (head, []byte, error) {
			switch {
			case !fresh:
				return head{}, nil, errLook
			case p.at == 0 || p.forgotten():
				return head{}, nil, errDone
			}
			if tries++; tries > 1 {
				j.requestPause(id, tries)
			}
			epoch, err := journal.NextEpoch(p.epoch, journal.Bounds{})
			if err != nil {
				return head{}, nil, err
			}
			tombstone := journal.Tombstone(epoch)
			return head{kind: kindForgotten, epoch: epoch, deletedTo: 1}, encodeRecords(id, []journal.Record{tombstone}), nil
		})
		if err == nil && p.forgotten() {
			err = purgeAll(ctx, j, id, p.at)
		}
		j.appended()
		return err
	})
}

// Revive implements [journal.Forgetter].
func (j *Journal) Revive(ctx context.Context, id string) error {
	return j.saving(ctx, "revive", id, func(ctx context.Context, e *entity) error {
		_, err := j.change(ctx, id, e, func(ctx context.Context, p *position, fresh bool) (head, []byte, error) {
			switch {
			case !fresh:
				return head{}, nil, errLook
			case !p.forgotten():
				return head{}, nil, errDone
			}
			if err := purgeAll(ctx, j, id, p.at); err != nil { // Forget may have failed to
				return head{}, nil, err
			}
			return head{kind: kindDeletion, epoch: p.epoch}, nil, nil
		})
		return err
	})
}

// A forgotten id is deleted beyond its last record.
func (h *head) forgotten() bool { return h.deletedTo > h.last }

// purgeAll removes what id has, except its tombstone.
func purgeAll(ctx context.Context, j *Journal, id string, tombstone uint64) error {
	err := j.purge(ctx, j.events, j.subjects.entity(id), tombstone)
	for _, subject := range []string{j.subjects.records(id), j.subjects.snapshots(id)} {
		if err == nil {
			wait, cancel := context.WithTimeout(ctx, requestPatience)
			err = j.streams[j.large].Purge(wait, js.WithPurgeSubject(subject))
			cancel()
		}
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("%w: forgotten, but not all of it is removed yet: forget it again: %w", journal.ErrUnknown, err)
}

// tombstone yields the tombstone in a message, unless the reader has seen it.
func (r *eventReader) tombstone(id string, at uint64, h *head, body []byte) error {
	if at == r.from.at && r.from.next > 0 {
		return nil
	}
	here := offset{at: at, next: 1}
	records := recordDecoder{id: id, epoch: h.epoch, d: decoder{rest: body}} // it has sequence number 0
	record, err := records.record()
	switch {
	case err != nil:
		return r.damaged(id, here, 0, err)
	case !r.yield(journal.Entry{ID: id, Offset: r.j.formatOffset(here), Record: record}, nil):
		return errEnough
	}
	return nil
}
