package postgres

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/persistence/internal/group"
	"github.com/understudy-go/understudy/persistence/journal"
)

// requestBytes bounds the payloads of one request, because the server bounds the size of a message.
const requestBytes = 512 << 20

// Append implements [journal.Journal]. Requests from all goroutines that arrive during a commit
// share the next one. Requests of one call are applied in order. Several requests of one id need a
// commit each.
func (j *Journal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := make([]error, len(reqs))
	jobs := make([]*job, len(reqs))
	for i := range reqs {
		jobs[i], errs[i] = appendJob(&reqs[i])
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

type request struct {
	id          string
	epoch, prev uint64
	rows        []eventRow
	timers      []timerRow
}

func (r *request) last() uint64 { return r.prev + uint64(len(r.rows)) }

type job = group.Job[request]

// appendJob returns the job that stores req. It retains no memory of the caller.
func appendJob(req *journal.AppendRequest) (*job, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	r := request{id: req.ID, epoch: req.Epoch, prev: req.Prev, rows: make([]eventRow, len(req.Records))}
	weight, size := 0, 0
	for i := range req.Records {
		row, err := encodeEvent(req.ID, &req.Records[i])
		if err != nil {
			return nil, err
		}
		r.rows[i] = row
		weight += weigh(row.payload)
		size += len(row.payload)
	}
	timers, err := encodeTimers(req.ID, req.Timers)
	if err != nil {
		return nil, err
	}
	r.timers = timers
	for i := range timers {
		weight += weigh(timers[i].payload)
		size += len(timers[i].payload)
	}
	if size > requestBytes {
		return nil, fmt.Errorf("%w: %d bytes in one request, at most %d", journal.ErrTooLarge, size, requestBytes)
	}
	return &job{Work: r, Weight: weight, Key: r.id}, nil // a statement can have an id only once
}

func weigh(payload []byte) int { return 1 + len(payload)>>10 }
