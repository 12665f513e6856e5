package postgres

import (
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrOverflow is the error of an operation whose number does not fit into a bigint: a floor
// or a token of 2⁶³-1. A counter does not come that far; look for who invented the floor.
var ErrOverflow = errors.New("postgres: the numbers of this name are used up, they end at 2⁶³-1")

// Codes of PostgreSQL.
const (
	outOfRange      = "22003"
	readOnly        = "25006"
	notUnique       = "23505"
	duplicateSchema = "42P06"
	duplicateTable  = "42P07"
	duplicateObject = "42710"
	undefinedTable  = "42P01"
	noPrivilege     = "42501"
	undefinedColumn = "42703"
	undefinedSchema = "3F000"
)

// least returns a floor as the server knows it, if there is a number above it.
func least(floor uint64) (int64, error) {
	if floor >= math.MaxInt64 {
		return 0, fmt.Errorf("%w: got a floor of %d", ErrOverflow, floor)
	}
	return int64(floor), nil
}

// explain adds to an error of the server what to do about it.
func explain(err error) error {
	switch code(err) {
	case outOfRange:
		return fmt.Errorf("%w: %w", ErrOverflow, err)
	case undefinedTable, undefinedSchema:
		return fmt.Errorf("there is no such table, run Store.Migrate or the statements of Store.DDL: %w", err)
	case undefinedColumn:
		return fmt.Errorf("the table is not one of this package, name another with postgres.Table: %w", err)
	case noPrivilege:
		return fmt.Errorf("the role needs USAGE on the schema and SELECT, INSERT and UPDATE on the table: %w", err)
	case readOnly:
		return fmt.Errorf("this server takes no writes, connect to the primary (target_session_attrs=read-write): %w", err)
	}
	return err
}

// code returns the server's code of an error, or nothing.
func code(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	return ""
}
