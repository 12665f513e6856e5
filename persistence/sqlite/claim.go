package sqlite

import (
	"context"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Claim implements [journal.Journal]. The database keeps the writer of the newest claim,
// for later investigation.
func (j *Journal) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	var claim journal.Claim
	err := j.change(ctx, "claim", id, func(t *transaction) error {
		h, err := t.head(id)
		if err != nil {
			return err
		}
		if h.epoch, err = journal.NextEpoch(h.epoch, b); err != nil {
			return err
		}
		h.writer = writer
		claim = journal.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo, NoTimers: true}
		if h.eid != 0 {
			if err := t.stmts.noTimers.QueryRow(id).Scan(&claim.NoTimers); err != nil {
				return err
			}
		}
		return t.saveHead(&h)
	})
	if err != nil {
		return journal.Claim{}, err
	}
	return claim, nil
}

func (j *Journal) change(ctx context.Context, op, id string, apply func(*transaction) error) error {
	if err := journal.ValidateID(id); err != nil {
		return wrap(op, id, err)
	}
	return wrap(op, id, j.queue.Do(ctx, &job{Weight: 1, Work: apply})[0])
}
