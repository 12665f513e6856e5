package pg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrNewerSchema is the error of [DB.Migrate] and of all statements when the table has a later
// version than the program.
var ErrNewerSchema = errors.New("postgres: the table is newer than this program")

// A verdict says whether this program may use a table that exists.
type verdict struct{ err error }

// known returns an error unless the version of the table is known and not too new. It asks the
// server until it has an answer. Statements that run at the same time each ask, because none waits
// for another's context.
func (db *DB) known(ctx context.Context) error {
	if v := db.verdict.Load(); v != nil {
		return v.err
	}
	return db.checkVersion(ctx)
}

// checkVersion asks the server for the version of the table, and keeps the verdict. Without a table
// there is no verdict and no error: the statement that follows fails.
func (db *DB) checkVersion(ctx context.Context) error {
	var comment string
	err := db.request(ctx, "SELECT coalesce(obj_description(t, 'pg_class'), '') FROM to_regclass($1::text) t WHERE t IS NOT NULL", db.SQL("{table}")).Scan(&comment)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	err = db.accepts(comment)
	db.verdict.Store(&verdict{err})
	return err
}

// accepts returns an error if the comment on a table has a later version. A comment that this
// package has not written is of no importance.
func (t Table) accepts(comment string) error {
	text, ours := strings.CutPrefix(comment, versionComment)
	if version, err := strconv.Atoi(text); ours && err == nil && version > t.Version {
		return fmt.Errorf("%w: it has version %d, this program knows %d; use a newer build of the program", ErrNewerSchema, version, t.Version)
	}
	return nil
}
