package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Migrate makes the table, and its schema, if they are not there. When they are it changes
// nothing and needs no privilege but those of using the table. Any number of processes may
// do it at once.
func (db *DB) Migrate(ctx context.Context) error {
	if err := db.migrate(ctx); err != nil {
		return fmt.Errorf("postgres: migrate: %w", db.Explain(err))
	}
	return nil
}

func (db *DB) migrate(ctx context.Context) error {
	if err := db.check(ctx); !IsMissing(err) {
		return err
	}
	err := db.make(ctx, db.create())
	if Code(err) == UndefinedSchema {
		if err = db.make(ctx, db.createSchema()); err == nil {
			err = db.make(ctx, db.create())
		}
	}
	if err != nil {
		return err
	}
	return db.check(ctx)
}

// check reports what keeps the table from being used.
func (db *DB) check(ctx context.Context) error {
	_, err := db.Pool.Exec(ctx, db.SQL("SELECT "+db.Columns+" FROM {table} LIMIT 0"), pgx.QueryExecModeExec)
	return err
}

// make runs a statement that makes something if it is not there. Two that do so at the
// same time are not kept apart by that clause: one of them is told that what it makes
// exists. It asks again then, and finds it there.
func (db *DB) make(ctx context.Context, sql string) error {
	for {
		_, err := db.Pool.Exec(ctx, sql, pgx.QueryExecModeExec)
		switch Code(err) {
		case NotUnique, DuplicateSchema, DuplicateTable, DuplicateObject:
		default:
			return err
		}
	}
}
