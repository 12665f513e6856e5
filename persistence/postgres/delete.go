package postgres

import (
	"cmp"
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
	readers := false
	var unread *journal.UnreadError
	err := fencedBy(ctx, j, "delete", id, epoch, j.statements.headForDeletion, func(ctx context.Context, conn *pgxpool.Conn, _ head) (err error) {
		if readers {
			_, damage, failure := readersOf(ctx, j, conn)
			err = cmp.Or(failure, damage)
		}
		for more := true; more && err == nil; {
			if readers {
				more, unread, err = deleteRead(ctx, j, conn, id, epoch, seq)
			} else {
				more, err = deleteSome(ctx, j, conn, id, epoch, seq)
			}
		}
		return err
	}, &readers)
	if err == nil && unread != nil {
		err = wrap("delete", id, unread)
	}
	return err
}

// DeleteUnread implements [journal.Retainer].
func (j *Journal) DeleteUnread(ctx context.Context, id string, epoch, seq uint64) error {
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

// deleteRead is deleteSome up to what a registered reader has not read.
func deleteRead(ctx context.Context, j *Journal, conn *pgxpool.Conn, id string, epoch, seq uint64) (more bool, unread *journal.UnreadError, err error) {
	var gone, hidden, read int64
	var reader *string
	row := conn.QueryRow(ctx, j.statements.deleteRead, id, int64(epoch), clamp(seq), int64(deleteRows), int16(journal.SliceOf(id))) //nolint:gosec // slices are few
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
	return fencedBy(ctx, j, op, id, epoch, j.statements.head, f)
}

// fencedBy is [Journal.fenced] with another statement for the head, which may have more columns.
func fencedBy(ctx context.Context, j *Journal, op, id string, epoch uint64, selectHead string, f func(context.Context, *pgxpool.Conn, head) error, more ...any) error {
	if err := journal.ValidateID(id); err != nil {
		return wrap(op, id, err)
	}
	return wrap(op, id, j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		h, known, err := scanHead(ctx, id, conn.QueryRow(ctx, selectHead, id), more...)
		if err == nil {
			err = h.fence(known, epoch)
		}
		if err != nil {
			return err
		}
		err = f(ctx, conn, h)
		if !errors.Is(err, pgx.ErrNoRows) {
			return changeError(ctx, err)
		}
		if err = j.newest(ctx, conn, id, epoch); err == nil {
			err = raced()
		}
		return err
	}))
}
