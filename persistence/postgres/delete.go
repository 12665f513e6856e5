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
	return deleteUpTo(ctx, j, id, epoch, seq, journal.SliceOf(id))
}

// DeleteUnread implements [journal.Retainer].
func (j *Journal) DeleteUnread(ctx context.Context, id string, epoch, seq uint64) error {
	return deleteUpTo(ctx, j, id, epoch, seq, noSlice)
}

// noSlice is the slice of no reader.
const noSlice = -1

func deleteUpTo(ctx context.Context, j *Journal, id string, epoch, seq uint64, slice int) error {
	var unread *journal.UnreadError
	err := j.fenced(ctx, "delete", id, epoch, func(ctx context.Context, conn *pgxpool.Conn, _ head) (err error) {
		for more := true; more && err == nil; {
			more, unread, err = deleteSome(ctx, j, conn, id, epoch, seq, slice)
		}
		return err
	})
	if err == nil && unread != nil {
		err = wrap("delete", id, unread)
	}
	return err
}

func deleteSome(ctx context.Context, j *Journal, conn *pgxpool.Conn, id string, epoch, seq uint64, slice int) (more bool, unread *journal.UnreadError, err error) {
	var gone, hidden, read int64
	var reader *string
	row := conn.QueryRow(ctx, j.statements.delete, id, int64(epoch), clamp(seq), int64(deleteRows), int16(slice))
	if err := row.Scan(&gone, &hidden, &reader, &read, nil); err != nil {
		return false, nil, err
	}
	if reader != nil {
		unread = &journal.UnreadError{Reader: *reader, To: uint64(read)}
	}
	return gone < hidden, unread, nil
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
