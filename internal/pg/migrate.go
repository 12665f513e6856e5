package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Migrate creates the table and its schema if they do not exist. If they exist, it changes nothing,
// and needs only the privileges to use the table. Any number of processes may call it at once.
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

// check returns an error if the table cannot be used. It compares the version first, because a
// newer table may lack columns.
func (db *DB) check(ctx context.Context) error {
	if err := db.checkVersion(ctx); err != nil {
		return err
	}
	_, err := db.Pool.Exec(ctx, db.SQL("SELECT "+db.Columns+" FROM {table} LIMIT 0"), pgx.QueryExecModeExec)
	return err
}

// make runs a statement that creates what does not exist. If two run at the same time, one of them
// may fail because the object exists. make then repeats it, and finds the object.
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
