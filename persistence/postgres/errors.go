package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

// ErrNewerSchema: a later version of this package has made the tables. Use a newer build of the
// program, or another schema.
//
// [Open] and [New] return it, and all methods of [Leases] with a context.
var ErrNewerSchema = pg.ErrNewerSchema

const poolerHint = "behind a pooler that knows nothing of prepared statements add default_query_exec_mode=exec to the connection string"

var meanings = map[string]struct {
	is   error
	hint string
}{
	pg.NotUnique:       {journal.ErrCorrupt, "the tables contradict each other; restore a backup"},
	pg.DataCorrupted:   {journal.ErrCorrupt, "restore a backup; amcheck tells what is damaged"},
	pg.IndexCorrupted:  {journal.ErrCorrupt, "REINDEX, after the cause has been found"},
	pg.LimitExceeded:   {journal.ErrTooLarge, "see MaxPayload"},
	pg.DiskFull:        {journal.ErrFull, "make space on the disk of the server"},
	pg.ReadOnly:        {journal.ErrUnavailable, "this server takes no writes, connect to the primary (target_session_attrs=read-write)"},
	pg.NoPrivilege:     {journal.ErrUnavailable, "the role lacks a privilege, see the package's documentation"},
	pg.UndefinedTable:  {journal.ErrUnavailable, "the tables are gone, open the journal again"},
	pg.UndefinedSchema: {journal.ErrUnavailable, "the schema is gone, open the journal again"},
	pg.UndefinedColumn: {journal.ErrUnavailable, "the tables are not those of this package, use another schema"},
	pg.DuplicateTable:  {journal.ErrUnavailable, "there are tables of that name already, use another schema"},
	pg.NoStatement:     {journal.ErrUnavailable, poolerHint},
	pg.SameStatement:   {journal.ErrUnavailable, poolerHint},
	pg.Canceled:        {journal.ErrUnavailable, "it was called off"},
}

// readError maps the error of a read-only statement to an error of package journal. It returns an
// error unchanged if it already wraps one.
func readError(ctx context.Context, err error) error {
	if err == nil || isJournalError(err) {
		return err
	}
	if _, ok := errors.AsType[pgx.ScanArgError](err); ok {
		return fmt.Errorf("%w: %w", journal.ErrCorrupt, err) // a value that does not fit was not written by this package
	}
	if m, ok := meanings[pg.Code(err)]; ok {
		return because(ctx, fmt.Errorf("%w: %w: %s", m.is, err, m.hint))
	}
	return because(ctx, fmt.Errorf("%w: %w", journal.ErrUnavailable, err))
}

// changeError is readError for a statement that changes data in its own transaction. Unless the
// server has reported a failure, the outcome is unknown.
func changeError(ctx context.Context, err error) error {
	_, misfit := errors.AsType[pgx.ScanArgError](err)
	if err == nil || misfit || isJournalError(err) || refused(err) || pgconn.SafeToRetry(err) {
		return readError(ctx, err)
	}
	return because(ctx, fmt.Errorf("%w: %w", journal.ErrUnknown, err))
}

// connectError is readError for errors before any statement was sent.
func connectError(ctx context.Context, err error) error {
	return because(ctx, fmt.Errorf("%w: %w", journal.ErrUnavailable, err))
}

func because(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w (%w)", err, reason(ctx))
}

// refused reports whether the server has reported that the statement failed, without ending the
// connection. If the connection ends, the statement may have been committed before.
func refused(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.SeverityUnlocalized == "ERROR"
}

func isJournalError(err error) bool {
	for _, is := range []error{
		journal.ErrFenced, journal.ErrConflict, journal.ErrTooLarge, journal.ErrInvalid, journal.ErrCorrupt,
		journal.ErrUnavailable, journal.ErrFull, journal.ErrUnknown, journal.ErrClosed,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

func wrap(op, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", op, id, err)
}
