package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/understudy-go/understudy/cluster/placement/generation"
)

// Codes of PostgreSQL.
const (
	checkFailed     = "23514"
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

// explain adds to an error of the server what to do about it.
func explain(err error) error {
	switch code(err) {
	case checkFailed:
		return fmt.Errorf("%w: %w", generation.ErrOverflow, err)
	case undefinedTable, undefinedSchema:
		return fmt.Errorf("there is no such table, run Source.Migrate or the statements of Source.DDL: %w", err)
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
