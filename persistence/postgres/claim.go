package postgres

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Claim implements [journal.Journal]. The database keeps the writer of the newest claim,
// for later investigation.
func (j *Journal) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	claim, err := j.claim(ctx, id, writer, b)
	return claim, wrap("claim", id, err)
}

// claim is one request of two statements. Claims of one id are serialized, and a concurrent append
// either comes before a claim or is fenced by it.
func (j *Journal) claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (claim journal.Claim, err error) {
	if err := journal.ValidateID(id); err != nil {
		return claim, err
	}
	first, err := journal.NextEpoch(0, b)
	if err != nil {
		return claim, err
	}
	fresh := head{id: id, epoch: first}
	greatest := int64(math.MaxInt64)
	if b.Below != 0 {
		greatest = clamp(b.Below - 1)
	}
	err = j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		h := head{id: id}
		noTimers, err := sendClaim(ctx, conn, &j.statements, &h, id, writer[:], int64(b.Least), fresh.checksum(), greatest)
		if errors.Is(err, pgx.ErrNoRows) {
			return j.whyRefused(ctx, conn, id, b)
		}
		if err != nil {
			return changeError(ctx, err)
		}
		claim = journal.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo, NoTimers: noTimers}
		return h.check()
	})
	if err != nil {
		return journal.Claim{}, err
	}
	return claim, nil
}

// sendClaim executes the claim, and then looks for timers. The head is locked meanwhile, and the
// second statement has a later snapshot, so it sees the timers of an append that the first one has
// waited for.
func sendClaim(ctx context.Context, conn *pgxpool.Conn, s *statements, h *head, args ...any) (noTimers bool, err error) {
	batch := &pgx.Batch{}
	batch.Queue(s.claim, args...)
	batch.Queue(s.noTimers, h.id)
	results := conn.SendBatch(ctx, batch)
	err = results.QueryRow().Scan(append(h.columns(), nil)...)
	if err == nil {
		err = results.QueryRow().Scan(&noTimers)
	}
	return noTimers, cmp.Or(err, results.Close())
}

// whyRefused returns the error of a claim that found no epoch. Epochs never decrease, so the reason
// still holds.
func (j *Journal) whyRefused(ctx context.Context, conn *pgxpool.Conn, id string, b journal.Bounds) error {
	h, _, err := j.head(ctx, conn, id)
	if err != nil {
		return err
	}
	if _, err = journal.NextEpoch(h.epoch, b); err == nil {
		return raced()
	}
	return err
}
