package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence"
)

// Claim implements [persistence.Journal]. The database remembers the writer of the newest
// claim, for people who investigate.
func (j *Journal) Claim(ctx context.Context, id string, writer persistence.WriterID) (persistence.Claim, error) {
	return j.ClaimAtLeast(ctx, id, writer, 0)
}

// ClaimAtLeast implements [persistence.FloorClaimer].
func (j *Journal) ClaimAtLeast(ctx context.Context, id string, writer persistence.WriterID, floor uint64) (persistence.Claim, error) {
	claim, err := j.claim(ctx, id, writer, floor)
	return claim, wrap("claim", id, err)
}

// claim is one statement: the claims of one id are one after the other, and an append that
// is under way is either before one of them, or fenced by it.
func (j *Journal) claim(ctx context.Context, id string, writer persistence.WriterID, floor uint64) (claim persistence.Claim, err error) {
	if err := persistence.ValidateID(id); err != nil {
		return claim, err
	}
	first, err := persistence.NextEpoch(0, floor)
	if err != nil {
		return claim, err
	}
	fresh := head{id: id, epoch: first}
	err = j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		h := head{id: id}
		row := conn.QueryRow(ctx, j.statements.claim, id, writer[:], int64(floor), fresh.checksum())
		if err := row.Scan(append(h.columns(), nil)...); err != nil {
			return changeError(ctx, err)
		}
		claim = persistence.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo}
		return h.check()
	})
	if err != nil {
		return persistence.Claim{}, err
	}
	return claim, nil
}
