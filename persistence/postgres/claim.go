package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/internal/group"
	"github.com/understudy-go/understudy/persistence/journal"
)

// fewClaims is how many claims at once have a connection and a commit each. More share a commit.
const fewClaims = 4

// A claim is a call of Claim, and its result.
type claim struct {
	id     string
	writer []byte
	bounds journal.Bounds
	fresh  head // of an id that was never claimed
	result journal.Claim
}

// Claim implements [journal.Journal]. The database keeps the writer of the newest claim,
// for later investigation. Claims beside many others share a transaction.
func (j *Journal) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	job, err := claimJob(id, writer, b)
	if err == nil {
		if j.claiming.Add(1) <= fewClaims {
			err = j.claim(ctx, job)
		} else {
			err = j.claims.Do(ctx, job)[0]
		}
		j.claiming.Add(-1)
	}
	if err != nil {
		return journal.Claim{}, wrap("claim", id, err)
	}
	return job.Work.result, nil
}

func claimJob(id string, writer journal.WriterID, b journal.Bounds) (*group.Job[claim], error) {
	if err := journal.ValidateID(id); err != nil {
		return nil, err
	}
	first, err := journal.NextEpoch(0, b)
	if err != nil {
		return nil, err
	}
	return &group.Job[claim]{Weight: 1, Key: id, Work: claim{id: id, writer: writer[:], bounds: b, fresh: head{id: id, epoch: first}}}, nil
}

func (j *Journal) claim(ctx context.Context, job *group.Job[claim]) error {
	return j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		commit(ctx, conn, []*group.Job[claim]{job}, j.claimAll)
		return job.Err
	})
}

// claimAll makes claims of different ids. Claims of one id are serialized, and a concurrent append
// either comes before a claim or is fenced by it.
func (j *Journal) claimAll(ctx context.Context, conn *pgxpool.Conn, jobs []*group.Job[claim]) error {
	slices.SortFunc(jobs, func(a, b *group.Job[claim]) int { return strings.Compare(a.Work.id, b.Work.id) })
	heads, timers, err := sendClaims(ctx, conn, &j.statements, jobs)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		h, claimed := heads[job.Work.id]
		if !claimed {
			job.Err = j.whyRefused(ctx, conn, job)
			continue
		}
		job.Work.result = journal.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo, TimersKnown: true}
		timers[h.id].give(&job.Work.result)
		job.Err = h.check()
	}
	return nil
}

// sendClaims is one request of two statements: the claims, and then the timers of the ids.
// The heads are locked meanwhile, and the second statement has a later snapshot, so it sees the
// timers of an append that the first one has waited for.
func sendClaims(ctx context.Context, conn *pgxpool.Conn, s *statements, jobs []*group.Job[claim]) (heads map[string]head, timers map[string]claimTimers, err error) {
	n := len(jobs)
	ids, writers := make([]string, n), make([][]byte, n)
	firsts, greatest, sums := make([]int64, n), make([]int64, n), make([]int32, n)
	for i, job := range jobs {
		c := &job.Work
		ids[i], writers[i], firsts[i], sums[i] = c.id, c.writer, clamp(c.fresh.epoch), c.fresh.checksum()
		greatest[i] = clamp(c.bounds.Below - 1) // no bound is 0
	}
	batch := &pgx.Batch{}
	batch.Queue(s.claim, ids, writers, firsts, sums, greatest)
	batch.Queue(s.timed, ids, maxClaimTimers+1)
	results := conn.SendBatch(ctx, batch)
	heads, err = claimedHeads(results)
	if err == nil {
		timers, err = timersOf(results)
	}
	return heads, timers, cmp.Or(err, results.Close())
}

func claimedHeads(results pgx.BatchResults) (map[string]head, error) {
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	heads := map[string]head{}
	var h head
	_, err = pgx.ForEachRow(rows, append([]any{&h.id}, h.columns()...), func() error {
		heads[h.id] = h
		return nil
	})
	return heads, err
}

// maxClaimTimers is how many timers a claim has at most: others share its transaction.
const maxClaimTimers = 16

// claimTimers are timers of an id, in any order.
type claimTimers struct {
	all     []journal.Timer
	damaged bool
}

func timersOf(results pgx.BatchResults) (map[string]claimTimers, error) {
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	of := map[string]claimTimers{}
	for rows.Next() {
		var id string
		var r storedTimer
		if err := rows.Scan(append([]any{&id}, r.columns()...)...); err != nil {
			return nil, err
		}
		t, err := r.check(id)
		c := of[id]
		of[id] = claimTimers{append(c.all, t), c.damaged || err != nil}
	}
	return of, rows.Err()
}

func (t claimTimers) give(c *journal.Claim) {
	if t.damaged || len(t.all) > maxClaimTimers {
		c.TimersKnown = false
		return
	}
	c.Timers = t.all
	slices.SortFunc(c.Timers, func(a, b journal.Timer) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Key, b.Key)) })
}

// whyRefused returns the error of a claim that found no epoch, or a forgotten id. Epochs never
// decrease, so the reason still holds. If the first claim of the id came in between, this is
// another one.
func (j *Journal) whyRefused(ctx context.Context, conn *pgxpool.Conn, job *group.Job[claim]) error {
	h, known, err := j.head(ctx, conn, job.Work.id)
	if err != nil {
		return err
	}
	if h.forgotten() {
		return journal.ErrForgotten
	}
	if _, err = journal.NextEpoch(h.epoch, job.Work.bounds); err != nil {
		return err
	}
	if !known {
		return raced()
	}
	commit(ctx, conn, []*group.Job[claim]{job}, j.claimAll)
	return job.Err
}
