package pg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/understudy-go/understudy/internal/pgschema"
)

// ErrNewerSchema is the error of [DB.Migrate] and of all statements when the table has a later
// version than the program.
var ErrNewerSchema = errors.New("postgres: the tables are newer than this program")

type verdict struct{ err error }

// known asks the server until it has an answer. Statements that run at the same time each ask,
// because none waits for another's context.
func (db *DB) known(ctx context.Context) error {
	if v := db.verdict.Load(); v != nil {
		return v.err
	}
	_, err := db.checkVersion(ctx)
	return err
}

// Without a table the version is 0, without a verdict and an error: the statement that follows
// fails.
func (db *DB) checkVersion(ctx context.Context) (version int, err error) {
	var comment string
	err = db.request(ctx, "SELECT coalesce(obj_description(t, 'pg_class'), '') FROM to_regclass($1::text) t WHERE t IS NOT NULL", db.SQL("{table}")).Scan(&comment)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, err
	}
	version, err = db.accepts(comment)
	db.verdict.Store(&verdict{err})
	return version, err
}

// An error means that it is a later version. A comment that this package has not written is of no
// importance.
func (t Table) accepts(comment string) (version int, err error) {
	known := len(t.Migrations)
	text, ours := strings.CutPrefix(comment, pgschema.VersionComment)
	version, err = strconv.Atoi(text)
	switch {
	case !ours || err != nil:
		return known, nil //nolint:nilerr // as said above
	case version > known:
		return version, fmt.Errorf("%w: it has version %d, this program knows %d; use a newer build of the program", ErrNewerSchema, version, known)
	}
	return version, nil
}

// Migrate creates the table and its schema if they do not exist, and brings an older table up to
// date. If nothing is to be done, it needs only the privileges to use the table. Any number of
// processes may call it at once.
func (db *DB) Migrate(ctx context.Context) error {
	if err := db.migrate(ctx); err != nil {
		return fmt.Errorf("postgres: migrate: %w", db.Explain(err))
	}
	return nil
}

func (db *DB) migrate(ctx context.Context) error {
	version, err := db.checkVersion(ctx)
	if err == nil && version < len(db.Migrations) {
		if _, err = db.Pool.Exec(ctx, db.DDL(), pgx.QueryExecModeExec); err == nil {
			_, err = db.checkVersion(ctx)
		}
	}
	if err != nil {
		return err
	}
	_, err = db.Pool.Exec(ctx, db.SQL("SELECT "+db.Columns+" FROM {table} LIMIT 0"), pgx.QueryExecModeExec)
	return err
}
