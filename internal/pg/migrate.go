package pg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrNewerSchema is the error of [DB.Migrate] when the table has a later version than the program.
var ErrNewerSchema = errors.New("postgres: the table is newer than this program")

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

// check returns an error if the table cannot be used.
func (db *DB) check(ctx context.Context) error {
	_, err := db.Pool.Exec(ctx, db.SQL("SELECT "+db.Columns+" FROM {table} LIMIT 0"), pgx.QueryExecModeExec)
	if err != nil {
		return err
	}
	var comment string
	err = db.QueryRow(ctx, "SELECT coalesce(obj_description(to_regclass($1::text), 'pg_class'), '')", db.SQL("{table}")).Scan(&comment)
	if err != nil {
		return err
	}
	text, ours := strings.CutPrefix(comment, versionComment)
	if version, err := strconv.Atoi(text); ours && err == nil && version > db.Version {
		return fmt.Errorf("%w: it has version %d, this program knows %d; use a newer build of the program", ErrNewerSchema, version, db.Version)
	}
	return nil
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
