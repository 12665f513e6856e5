package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Claim implements [journal.Journal]. The database keeps the writer of the newest claim,
// for later investigation.
func (j *Journal) Claim(ctx context.Context, id string, writer journal.WriterID, floor uint64) (journal.Claim, error) {
	claim, err := j.claim(ctx, id, writer, floor)
	return claim, wrap("claim", id, err)
}

// claim is one statement: claims of one id are serialized, and a concurrent append either comes
// before a claim or is fenced by it.
func (j *Journal) claim(ctx context.Context, id string, writer journal.WriterID, floor uint64) (claim journal.Claim, err error) {
	if err := journal.ValidateID(id); err != nil {
		return claim, err
	}
	first, err := journal.NextEpoch(0, floor)
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
		claim = journal.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo}
		return h.check()
	})
	if err != nil {
		return journal.Claim{}, err
	}
	return claim, nil
}
