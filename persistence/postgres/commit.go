package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence"
)

const (
	// groupWeight bounds how much one statement stores.
	groupWeight = 1024
	// collisions bounds how often a group is sent again that the server has rolled back,
	// as it met with another transaction.
	collisions = 5
)

// commitGroups is the one goroutine that appends: whatever has queued up while it was busy
// is committed together. It ends with the queue.
func (j *Journal) commitGroups() {
	for range j.queue.wake {
		finish(j.commitGroup())
	}
}

// commitGroup takes jobs only when there is a connection: until then they may be
// withdrawn, with a definite outcome.
func (j *Journal) commitGroup() []*job {
	ctx, cancel := context.WithTimeout(j.calls.life, commitPatience)
	defer cancel()
	var jobs []*job
	err := j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		jobs = j.queue.take(groupWeight)
		if len(jobs) > 0 {
			j.commit(ctx, conn, jobs)
		}
		return nil
	})
	if err != nil {
		jobs = j.queue.takeAll()
		fail(jobs, err)
	}
	return jobs
}

// commit stores jobs in one transaction, and sets the outcome of each. When one of them
// makes the server refuse the statement, they are stored one by one.
func (j *Journal) commit(ctx context.Context, conn *pgxpool.Conn, jobs []*job) {
	stored, err := j.insert(ctx, conn, jobs)
	for n := 0; n < collisions && collided(err); n++ {
		stored, err = j.insert(ctx, conn, jobs)
	}
	switch {
	case err == nil:
		j.settle(ctx, conn, jobs, stored)
	case len(jobs) > 1 && refused(err) && !concernsAll(err):
		for _, one := range jobs {
			j.commit(ctx, conn, []*job{one})
		}
	default:
		fail(jobs, changeError(ctx, err))
	}
}

// collided reports whether the server has rolled a transaction back for another one's sake.
func collided(err error) bool { return code(err) == serialization || code(err) == deadlock }

// concernsAll reports whether a refusal is not due to what was to be stored.
func concernsAll(err error) bool {
	switch code(err)[:2] {
	case "53", "57", "58", "XX": // resources, operators, input and output, inner errors
		return true
	}
	return code(err) == readOnly || collided(err)
}

// insert returns which of jobs were stored; the others' conditions did not hold.
func (j *Journal) insert(ctx context.Context, conn *pgxpool.Conn, jobs []*job) ([]bool, error) {
	// Groups that lock their heads in the same order do not get into each other's way.
	slices.SortFunc(jobs, func(a, b *job) int { return compareIDs(a.id, b.id) })
	rows, err := conn.Query(ctx, j.statements.append, arguments(jobs)...)
	if err != nil {
		return nil, err
	}
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, err
	}
	stored := make([]bool, len(jobs))
	for _, n := range numbers {
		stored[n-1] = true
	}
	return stored, nil
}

func compareIDs(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// arguments are those of [appendGroup].
func arguments(jobs []*job) []any {
	n, total := len(jobs), 0
	for _, job := range jobs {
		total += len(job.rows)
	}
	var (
		ids                 = make([]string, 0, n)
		epochs, prevs, last = make([]int64, 0, n), make([]int64, 0, n), make([]int64, 0, n)
		flips               = make([]int32, 0, n)
		slots               = make([]int16, 0, n)

		requests, seqs, secs = make([]int64, 0, total), make([]int64, 0, total), make([]int64, 0, total)
		writers, payloads    = make([][]byte, 0, total), make([][]byte, 0, total)
		nsecs, crcs          = make([]int32, 0, total), make([]int32, 0, total)
		types, tags, metas   = make([]string, 0, total), make([]string, 0, total), make([]string, 0, total)
	)
	for i, job := range jobs {
		ids, epochs, prevs, last = append(ids, job.id), append(epochs, int64(job.epoch)), append(prevs, int64(job.prev)), append(last, int64(job.last()))
		flips, slots = append(flips, advance(job.prev, job.last())), append(slots, int16(persistence.SliceOf(job.id)))
		for k := range job.rows {
			r := &job.rows[k]
			requests, seqs, secs = append(requests, int64(i)+1), append(seqs, r.seq), append(secs, r.sec)
			writers, payloads = append(writers, r.writer), append(payloads, r.payload)
			nsecs, crcs = append(nsecs, r.nsec), append(crcs, r.crc)
			types, tags, metas = append(types, r.typ), append(tags, r.tags), append(metas, r.meta)
		}
	}
	return []any{ids, epochs, prevs, last, flips, slots, requests, seqs, writers, secs, nsecs, types, tags, metas, payloads, crcs}
}

// settle sets the outcome of jobs that were sent and of which some were stored.
func (j *Journal) settle(ctx context.Context, conn *pgxpool.Conn, jobs []*job, stored []bool) {
	for i, job := range jobs {
		job.err = nil
		if !stored[i] {
			job.err = j.recognise(ctx, conn, job)
		}
	}
}

// recognise says why a job was not stored. It returns nil when it is there already: then it
// is a retry, as only one writer has the epoch.
func (j *Journal) recognise(ctx context.Context, conn *pgxpool.Conn, job *job) error {
	var sums []int32
	row := conn.QueryRow(ctx, j.statements.applied, job.id, int64(job.prev)+1, int64(job.last()))
	h, known, err := scanHead(ctx, job.id, row, &sums)
	if err == nil {
		err = h.fence(known, job.epoch)
	}
	switch {
	case errors.Is(err, persistence.ErrUnavailable):
		// Not stored now; whether it was before, nobody could look.
		return because(ctx, fmt.Errorf("%w: it was refused, and then: %w", persistence.ErrUnknown, err))
	case err != nil:
		return err
	case slices.EqualFunc(sums, job.rows, func(crc int32, r eventRow) bool { return crc == r.crc }):
		return nil
	case h.seq == job.prev:
		return raced()
	}
	return fmt.Errorf("%w: %d to %d after %d", persistence.ErrConflict, job.prev+1, job.last(), h.seq)
}
