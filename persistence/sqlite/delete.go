package sqlite

import (
	"context"

	"github.com/understudy-go/understudy/persistence/journal"
)

const deleteRows = 1000

// DeleteTo implements [journal.Journal]. The records are hidden at once, and their space is reused
// afterwards. Very many records are deleted in several transactions. After an error between them
// the records stay hidden, and the next DeleteTo of the id continues.
func (j *Journal) DeleteTo(ctx context.Context, id string, epoch, seq uint64) error {
	return j.delete(ctx, id, epoch, seq, true)
}

// DeleteUnread implements [journal.Retainer].
func (j *Journal) DeleteUnread(ctx context.Context, id string, epoch, seq uint64) error {
	return j.delete(ctx, id, epoch, seq, false)
}

// delete stops before what registered readers have not read, if it is to.
func (j *Journal) delete(ctx context.Context, id string, epoch, seq uint64, stops bool) error {
	var unread *journal.UnreadError
	for more := true; more; {
		err := j.change(ctx, "delete", id, func(t *transaction) error {
			var readers bool
			h, err := scanHead(id, t.stmts.headForDeletion.QueryRow(id), &readers)
			if err == nil {
				err = h.fence(epoch)
			}
			if err != nil {
				return err
			}
			to := min(seq, h.seq)
			if readers && stops && to > h.deletedTo {
				to, unread, err = t.read(&h, to)
			}
			if err == nil {
				more, err = t.deleteTo(&h, to)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if unread != nil {
		return wrap("delete", id, unread)
	}
	return nil
}

// deleteTo hides the records up to seq, and deletes some of them.
func (t *transaction) deleteTo(h *head, seq uint64) (more bool, err error) {
	if seq > h.deletedTo {
		h.deletedTo = seq
		if err := t.saveHead(h); err != nil {
			return false, err
		}
	}
	return t.deleteHidden(h)
}

// deleteHidden deletes the first of the hidden records, and reports whether there are more.
func (t *transaction) deleteHidden(h *head) (more bool, err error) {
	var first uint64
	if err := t.stmts.first.QueryRow(h.eid).Scan(&first); err != nil {
		return false, scanError(err)
	}
	if first == 0 || first > h.deletedTo {
		return false, nil
	}
	last := min(h.deletedTo, first+deleteRows-1)
	if err := t.exec(t.stmts.deleteTags, h.eid, last); err != nil {
		return false, err
	}
	if err := t.exec(t.stmts.deleteRows, h.eid, last); err != nil {
		return false, err
	}
	return last < h.deletedTo, nil
}

// Claim implements [journal.Journal]. The database keeps the writer of the newest claim,
// for later investigation.
func (j *Journal) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	var claim journal.Claim
	err := j.change(ctx, "claim", id, func(t *transaction) error {
		h, err := t.head(id)
		if err != nil {
			return err
		}
		if h.forgotten() {
			return journal.ErrForgotten
		}
		if h.epoch, err = journal.NextEpoch(h.epoch, b); err != nil {
			return err
		}
		h.writer = writer
		claim = journal.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo, TimersKnown: true}
		if h.eid != 0 {
			if err := t.readTimers(id, &claim); err != nil {
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
	return wrap(op, id, j.queue.Do(ctx, &job{Weight: 1, Work: change{id: id, apply: apply}})[0])
}
