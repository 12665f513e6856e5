package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/internal/group"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

// requestBytes bounds the payloads of one request, because the server bounds the size of a message.
const requestBytes = 512 << 20

// Append implements [journal.Journal]. Requests from all goroutines that arrive during a commit
// share the next one. Requests of one id are applied in their order, and need a commit each.
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

const (
	// committers is how many groups may be committed at once: while the server executes one, the
	// next one is encoded.
	committers  = 2
	groupWeight = 4096
	// collisions bounds how many times a group is sent again after the server has rolled it back
	// because of another transaction.
	collisions = 5
)

// serve stores the jobs of a queue by send.
func serve[W any](j *Journal, q *group.Queue[W], send func(context.Context, *pgxpool.Conn, []*group.Job[W]) error) {
	q.Serve(groupWeight, func(take func() []*group.Job[W]) error {
		ctx, cancel := context.WithTimeout(j.calls.life, j.patience)
		defer cancel()
		return j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
			// Only now: until a job is taken its caller can withdraw it, and knows that it is not
			// stored.
			if jobs := take(); len(jobs) > 0 {
				commit(ctx, conn, jobs, send)
			}
			return nil
		})
	})
}

// commit stores jobs in one transaction by send, which sets the outcome of each. If one of them
// makes the server refuse the statement, it stores the jobs one by one.
func commit[W any](ctx context.Context, conn *pgxpool.Conn, jobs []*group.Job[W], send func(context.Context, *pgxpool.Conn, []*group.Job[W]) error) {
	err := send(ctx, conn, jobs)
	for n := 0; n < collisions && collided(err); n++ {
		err = send(ctx, conn, jobs)
	}
	switch {
	case err == nil:
	case len(jobs) > 1 && refused(err) && !concernsAll(err):
		for _, one := range jobs {
			commit(ctx, conn, []*group.Job[W]{one}, send)
		}
	default:
		group.Fail(jobs, changeError(ctx, err))
	}
}

func collided(err error) bool { return pg.Code(err) == pg.Serialization || pg.Code(err) == pg.Deadlock }

// concernsAll reports whether a refusal is independent of the stored data.
func concernsAll(err error) bool {
	switch pg.Code(err)[:2] {
	case "53", "57", "58", "XX": // resources, operator intervention, system errors, internal errors
		return true
	}
	return pg.Code(err) == pg.ReadOnly || collided(err)
}

// insert stores jobs. The conditions of some may not hold.
func (j *Journal) insert(ctx context.Context, conn *pgxpool.Conn, jobs []*job) error {
	// Groups that lock their heads in the same order cannot deadlock.
	slices.SortFunc(jobs, func(a, b *job) int { return strings.Compare(a.Work.id, b.Work.id) })
	statement, args := j.statements.append, arguments(jobs)
	if slices.ContainsFunc(jobs, func(job *job) bool { return len(job.Work.timers) > 0 }) {
		statement, args = j.statements.appendTimed, append(args, timerArguments(jobs)...)
	}
	rows, err := conn.Query(ctx, statement, args...)
	if err != nil {
		return err
	}
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	stored := make([]bool, len(jobs))
	for _, n := range numbers {
		stored[n-1] = true
	}
	j.settle(ctx, conn, jobs, stored)
	return nil
}

func arguments(jobs []*job) []any {
	n, total := len(jobs), 0
	for _, job := range jobs {
		total += len(job.Work.rows)
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
		req := &job.Work
		ids, epochs, prevs, last = append(ids, req.id), append(epochs, int64(req.epoch)), append(prevs, int64(req.prev)), append(last, int64(req.last()))
		flips, slots = append(flips, advance(req.prev, req.last())), append(slots, int16(journal.SliceOf(req.id)))
		for k := range req.rows {
			r := &req.rows[k]
			requests, seqs, secs = append(requests, int64(i)+1), append(seqs, r.seq), append(secs, r.sec)
			writers, payloads = append(writers, r.writer), append(payloads, r.payload)
			nsecs, crcs = append(nsecs, r.nsec), append(crcs, r.crc)
			types, tags, metas = append(types, r.typ), append(tags, r.tags), append(metas, r.meta)
		}
	}
	return []any{ids, epochs, prevs, last, flips, slots, requests, seqs, writers, secs, nsecs, types, tags, metas, payloads, crcs}
}

func (j *Journal) settle(ctx context.Context, conn *pgxpool.Conn, jobs []*job, stored []bool) {
	for i, job := range jobs {
		job.Err = nil
		if !stored[i] {
			job.Err = j.recognise(ctx, conn, &job.Work)
		}
	}
}

// recognise returns why a request was not stored. It returns nil if the request is already stored.
// It is then a retry, because only one writer has the epoch, and its timers were changed with the
// events. Without events there is nothing to recognise it by.
func (j *Journal) recognise(ctx context.Context, conn *pgxpool.Conn, req *request) error {
	var sums []int32
	row := conn.QueryRow(ctx, j.statements.applied, req.id, int64(req.prev)+1, int64(req.last()))
	h, known, err := scanHead(ctx, req.id, row, &sums)
	if err == nil {
		err = h.fence(known, req.epoch)
	}
	switch {
	case errors.Is(err, journal.ErrUnavailable):
		// The request was not stored now, but it could not be checked whether it was stored before.
		return because(ctx, fmt.Errorf("%w: it was refused, and then: %w", journal.ErrUnknown, err))
	case err != nil:
		return err
	case len(req.rows) > 0 && slices.EqualFunc(sums, req.rows, func(crc int32, r eventRow) bool { return crc == r.crc }):
		return nil
	case h.seq == req.prev:
		return raced()
	}
	return fmt.Errorf("%w: %d to %d after %d", journal.ErrConflict, req.prev+1, req.last(), h.seq)
}
