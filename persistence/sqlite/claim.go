package sqlite

import (
	"context"

	"github.com/understudy-go/understudy/persistence"
)

// Claim implements [persistence.Journal]. The database remembers the writer of the newest
// claim, for people who investigate.
func (j *Journal) Claim(ctx context.Context, id string, writer persistence.WriterID) (persistence.Claim, error) {
	return j.ClaimAtLeast(ctx, id, writer, 0)
}

// ClaimAtLeast implements [persistence.FloorClaimer].
func (j *Journal) ClaimAtLeast(ctx context.Context, id string, writer persistence.WriterID, floor uint64) (persistence.Claim, error) {
	var claim persistence.Claim
	err := j.change(ctx, "claim", id, func(t *transaction) error {
		h, err := t.head(id)
		if err != nil {
			return err
		}
		if h.epoch, err = persistence.NextEpoch(h.epoch, floor); err != nil {
			return err
		}
		h.writer = writer
		claim = persistence.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo}
		return t.saveHead(&h)
	})
	if err != nil {
		return persistence.Claim{}, err
	}
	return claim, nil
}

// change has the committer apply a change of id that weighs as much as one event.
func (j *Journal) change(ctx context.Context, op, id string, apply func(*transaction) error) error {
	if err := persistence.ValidateID(id); err != nil {
		return wrap(op, id, err)
	}
	return wrap(op, id, j.queue.Do(ctx, &job{Weight: 1, Work: apply})[0])
}
