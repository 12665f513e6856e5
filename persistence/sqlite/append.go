package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/persistence/journal"
)

// MaxPayload is the size of the largest payload of an event or a snapshot, in bytes.
const MaxPayload = 64 << 20

// Append implements [journal.Journal]. Requests from all goroutines that arrive during a commit
// share the next one. Requests of one id are applied in their order.
func (j *Journal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := make([]error, len(reqs))
	jobs := make([]*job, len(reqs))
	for i := range reqs {
		jobs[i], errs[i] = appendJob(&reqs[i]) //nolint:contextcheck // one commit is of several callers
	}
	for i, err := range j.queue.Do(ctx, jobs...) {
		if errs[i] == nil {
			errs[i] = err
		}
		errs[i] = wrap("append", reqs[i].ID, errs[i])
	}
	j.Notify()
	return errs
}

// AppendAsync implements [journal.AsyncJournal]; see [Journal.Append].
func (j *Journal) AppendAsync(req journal.AppendRequest, done func(error)) journal.Call {
	job, err := appendJob(&req)
	if err != nil {
		done(wrap("append", req.ID, err))
		return nil
	}
	j.queue.Submit(job, func(err error) {
		j.Notify()
		done(wrap("append", req.ID, err))
	})
	return job
}

// appendJob returns the job that stores req. It retains no memory of the caller.
func appendJob(req *journal.AppendRequest) (*job, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	rows := make([]insertion, len(req.Records))
	weight := 0
	for i := range req.Records {
		if err := rows[i].encode(req.ID, &req.Records[i]); err != nil {
			return nil, err
		}
		weight += weigh(req.Records[i].Payload)
	}
	timers, timersWeight, err := encodeTimers(req.ID, req.Timers)
	if err != nil {
		return nil, err
	}
	id, epoch, prev := req.ID, req.Epoch, req.Prev
	work := change{id: id, apply: func(t *transaction) error { return t.append(id, epoch, prev, rows, timers) }}
	return &job{Weight: weight + timersWeight, Work: work}, nil
}

func weigh(payload []byte) int { return 1 + len(payload)>>10 }

// append stores rows after prev, and changes timers. If the head is as this process left it, which
// is the common case, nothing is read.
func (t *transaction) append(id string, epoch, prev uint64, rows []insertion, timers []timerChange) error {
	if h, ok := t.heads[id]; ok && h.epoch == epoch && h.seq == prev {
		if err := t.extend(h, rows, timers); !errors.Is(err, errOutdated) {
			return err
		}
	}
	h, err := t.fencedHead(id, epoch)
	if err != nil {
		return err
	}
	if h.seq != prev {
		return t.recognise(&h, prev, rows)
	}
	return t.extend(h, rows, timers)
}

// extend stores rows after h, and changes timers. It fails with errOutdated if h is not the stored
// head. Without rows, advanceHead only compares the head.
func (t *transaction) extend(h head, rows []insertion, timers []timerChange) error {
	if err := t.advanceHead(h, uint64(len(rows))); err != nil {
		return err
	}
	for i := range rows {
		if err := t.insertEvent(h.eid, &rows[i]); err != nil {
			return err
		}
	}
	return t.changeTimers(timers)
}

func (t *transaction) insertEvent(eid int64, r *insertion) error {
	t.dirty = true
	t.stmts.insertEvent.set(r.values[:]...)
	t.stmts.insertEvent.args[0].Value = eid
	result, err := t.stmts.insertEvent.exec()
	if err != nil || len(r.tags) == 0 {
		return err
	}
	ord, err := result.LastInsertId()
	if err != nil {
		return storeError(err)
	}
	for _, tag := range r.tags {
		if err := t.exec(t.stmts.insertTag, tag, ord); err != nil {
			return err
		}
	}
	return nil
}

// recognise returns nil if the rows are already stored. The request is then a retry, because only
// one writer has the epoch, and its timers were changed with the rows. Without rows there is
// nothing to recognise it by.
func (t *transaction) recognise(h *head, prev uint64, rows []insertion) error {
	last := prev + uint64(len(rows))
	stored, err := t.sums(h.eid, prev+1, last)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(stored, rows, func(crc uint32, r insertion) bool { return crc == r.crc })
	if !same || len(rows) == 0 {
		return fmt.Errorf("%w: %d to %d after %d", journal.ErrConflict, prev+1, last, h.seq)
	}
	return nil
}

func (t *transaction) sums(eid int64, from, to uint64) ([]uint32, error) {
	rows, err := t.stmts.sums.Query(eid, from, to)
	if err != nil {
		return nil, storeError(err)
	}
	defer rows.Close()
	var sums []uint32
	for rows.Next() {
		var crc uint32
		if err := rows.Scan(&crc); err != nil {
			return nil, scanError(err)
		}
		sums = append(sums, crc)
	}
	return sums, storeError(rows.Err())
}
