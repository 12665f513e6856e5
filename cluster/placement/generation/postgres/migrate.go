package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// DDL returns the statements that [Source.Migrate] runs, for whoever keeps the schema of the
// database in another way. The schema itself must exist.
func (s *Source) DDL() string { return s.statements.table + ";\n" }

// Migrate makes the table, and its schema, if they are not there. When they are it changes
// nothing and needs no privilege but those of using the table. Any number of processes may
// do it at once.
func (s *Source) Migrate(ctx context.Context) error {
	if err := s.migrate(ctx); err != nil {
		return fmt.Errorf("postgres: migrate: %w", explain(err))
	}
	return nil
}

func (s *Source) migrate(ctx context.Context) error {
	if err := s.check(ctx); !isMissing(err) {
		return err
	}
	err := s.create(ctx, s.statements.table)
	if code(err) == undefinedSchema {
		if err = s.create(ctx, s.statements.schema); err == nil {
			err = s.create(ctx, s.statements.table)
		}
	}
	if err != nil {
		return err
	}
	return s.check(ctx)
}

// check reports what keeps the table from being used.
func (s *Source) check(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, s.statements.look, pgx.QueryExecModeExec)
	return err
}

func isMissing(err error) bool {
	return code(err) == undefinedTable || code(err) == undefinedSchema
}

// create runs a statement that makes something if it is not there. Two that do so at the
// same time are not kept apart by that clause: one of them is told that what it makes
// exists. It asks again then, and finds it there.
func (s *Source) create(ctx context.Context, sql string) error {
	for {
		_, err := s.pool.Exec(ctx, sql, pgx.QueryExecModeExec)
		switch code(err) {
		case notUnique, duplicateSchema, duplicateTable, duplicateObject:
		default:
			return err
		}
	}
}
