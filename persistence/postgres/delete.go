package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

// deleteRows is how many events one transaction deletes. A long transaction would delay readers of
// all events.
const deleteRows = 5000

// DeleteTo implements [journal.Journal]. The records are hidden from [Journal.Read] at once, and
// then deleted; very many, in several transactions. After an error between them the records stay
// hidden, and the next DeleteTo of the id continues.
func (j *Journal) DeleteTo(ctx context.Context, id string, epoch, seq uint64) error {
	return j.fenced(ctx, "delete", id, epoch, func(ctx context.Context, conn *pgxpool.Conn, _ head) (err error) {
		for more := true; more && err == nil; {
			more, err = deleteSome(ctx, j, conn, id, epoch, seq)
		}
		return err
	})
}

func deleteSome(ctx context.Context, j *Journal, conn *pgxpool.Conn, id string, epoch, seq uint64) (more bool, err error) {
	var gone, hidden int64
	row := conn.QueryRow(ctx, j.statements.delete, id, int64(epoch), clamp(seq), int64(deleteRows))
	if err := row.Scan(&gone, &hidden, nil); err != nil {
		return false, err
	}
	return gone < hidden, nil
}

// fenced runs f with the head of id if the caller has the newest claim. f makes its changes on the
// same condition; [pgx.ErrNoRows] means that the condition no longer held.
func (j *Journal) fenced(ctx context.Context, op, id string, epoch uint64, f func(context.Context, *pgxpool.Conn, head) error) error {
	if err := journal.ValidateID(id); err != nil {
		return wrap(op, id, err)
	}
	return wrap(op, id, j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		h, err := j.fencedHead(ctx, conn, id, epoch)
		if err != nil {
			return err
		}
		err = f(ctx, conn, h)
		if !errors.Is(err, pgx.ErrNoRows) {
			return changeError(ctx, err)
		}
		if _, err = j.fencedHead(ctx, conn, id, epoch); err == nil {
			err = raced()
		}
		return err
	}))
}
