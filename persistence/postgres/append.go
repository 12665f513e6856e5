package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/persistence"
)

// requestBytes bounds the payloads of one request, as a message to the server is bounded.
const requestBytes = 512 << 20

// Append implements [persistence.Journal]. Requests from all goroutines that come while a
// commit is under way share the next one. Requests of one call are applied in their
// order, also those of the same id, which need a commit each.
func (j *Journal) Append(ctx context.Context, reqs []persistence.AppendRequest) []error {
	errs := make([]error, len(reqs))
	jobs := make([]*job, len(reqs))
	for i := range reqs {
		jobs[i], errs[i] = appendJob(&reqs[i])
	}
	j.queue.submit(ctx, slices.DeleteFunc(slices.Clone(jobs), func(job *job) bool { return job == nil })...)
	for i, job := range jobs {
		if job != nil {
			errs[i] = j.queue.await(ctx, job)
		}
		errs[i] = wrap("append", reqs[i].ID, errs[i])
	}
	j.Ring()
	return errs
}

// appendJob returns the job that stores req; it holds nothing of the caller's.
func appendJob(req *persistence.AppendRequest) (*job, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	j := &job{id: req.ID, epoch: req.Epoch, prev: req.Prev, rows: make([]eventRow, len(req.Records)), done: make(chan struct{})}
	size := 0
	for i := range req.Records {
		row, err := encodeEvent(req.ID, &req.Records[i])
		if err != nil {
			return nil, err
		}
		j.rows[i] = row
		j.weight += weigh(row.payload)
		size += len(row.payload)
	}
	if size > requestBytes {
		return nil, fmt.Errorf("%w: %d bytes in one request, at most %d", persistence.ErrTooLarge, size, requestBytes)
	}
	return j, nil
}

// weigh counts a payload as one, and one more for each kilobyte.
func weigh(payload []byte) int { return 1 + len(payload)>>10 }
