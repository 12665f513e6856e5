package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/understudy-go/understudy/persistence"
)

// ErrNewerSchema is the error of [Open] when a later version of this package has made the
// tables.
var ErrNewerSchema = errors.New("postgres: the journal is newer than this program")

// Codes of PostgreSQL.
const (
	outOfRange      = "22003"
	notUnique       = "23505"
	readOnly        = "25006"
	undefinedSchema = "3F000"
	noStatement     = "26000"
	serialization   = "40001"
	deadlock        = "40P01"
	noPrivilege     = "42501"
	undefinedColumn = "42703"
	undefinedTable  = "42P01"
	duplicateTable  = "42P07"
	sameStatement   = "42P05"
	diskFull        = "53100"
	limitExceeded   = "54000"
	canceled        = "57014"
	dataCorrupted   = "XX001"
	indexCorrupted  = "XX002"
)

const poolerHint = "behind a pooler that knows nothing of prepared statements add default_query_exec_mode=exec to the connection string"

// meanings of the server's codes, with what to do about each.
var meanings = map[string]struct {
	is   error
	hint string
}{
	outOfRange:      {persistence.ErrInvalid, "the epochs of this id are used up, or the floor is too high"},
	notUnique:       {persistence.ErrCorrupt, "the tables contradict each other; restore a backup"},
	dataCorrupted:   {persistence.ErrCorrupt, "restore a backup; amcheck tells what is damaged"},
	indexCorrupted:  {persistence.ErrCorrupt, "REINDEX, after the cause has been found"},
	limitExceeded:   {persistence.ErrTooLarge, "see MaxPayload"},
	diskFull:        {persistence.ErrFull, "make space on the disk of the server"},
	readOnly:        {persistence.ErrUnavailable, "this server takes no writes, connect to the primary (target_session_attrs=read-write)"},
	noPrivilege:     {persistence.ErrUnavailable, "the role lacks a privilege, see the package's documentation"},
	undefinedTable:  {persistence.ErrUnavailable, "the tables are gone, open the journal again"},
	undefinedSchema: {persistence.ErrUnavailable, "the schema is gone, open the journal again"},
	undefinedColumn: {persistence.ErrUnavailable, "the tables are not those of this package, use another schema"},
	duplicateTable:  {persistence.ErrUnavailable, "there are tables of that name already, use another schema"},
	noStatement:     {persistence.ErrUnavailable, poolerHint},
	sameStatement:   {persistence.ErrUnavailable, poolerHint},
	canceled:        {persistence.ErrUnavailable, "it was called off"},
}

// readError says what an error of a statement that changes nothing means. Errors that say
// so themselves come back as they are.
func readError(ctx context.Context, err error) error {
	if err == nil || meant(err) {
		return err
	}
	if _, ok := errors.AsType[pgx.ScanArgError](err); ok {
		return fmt.Errorf("%w: %w", persistence.ErrCorrupt, err) // what does not fit is not what was written
	}
	if m, ok := meanings[code(err)]; ok {
		return because(ctx, fmt.Errorf("%w: %w: %s", m.is, err, m.hint))
	}
	return because(ctx, fmt.Errorf("%w: %w", persistence.ErrUnavailable, err))
}

// changeError is readError for a statement that changes something, and is its own
// transaction. When the server has not said that it failed, nobody knows.
func changeError(ctx context.Context, err error) error {
	_, misfit := errors.AsType[pgx.ScanArgError](err)
	if err == nil || misfit || meant(err) || refused(err) || pgconn.SafeToRetry(err) {
		return readError(ctx, err)
	}
	return because(ctx, fmt.Errorf("%w: %w", persistence.ErrUnknown, err))
}

// connectError is readError for what comes before any statement.
func connectError(ctx context.Context, err error) error {
	return because(ctx, fmt.Errorf("%w: %w", persistence.ErrUnavailable, err))
}

// because adds the error of the context to one that it has caused.
func because(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w (%w)", err, reason(ctx))
}

// refused reports whether the server has said that the statement failed, and goes on. One
// that ends the connection may have committed before.
func refused(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.SeverityUnlocalized == "ERROR"
}

// code returns the server's code of an error, or nothing.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// meant reports whether err carries a meaning of package persistence already.
func meant(err error) bool {
	for _, is := range []error{
		persistence.ErrFenced, persistence.ErrConflict, persistence.ErrTooLarge, persistence.ErrInvalid, persistence.ErrCorrupt,
		persistence.ErrUnavailable, persistence.ErrFull, persistence.ErrUnknown, persistence.ErrClosed,
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
