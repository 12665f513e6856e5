// Package fence has the tables by which an SQL database refuses steps of runs whose process was
// replaced, and knows those that were done. Packages workflow and outside share them, and package
// postgres, which is a module of its own.
package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ErrReplaced is outside.ErrReplaced.
var ErrReplaced = errors.New("outside: another process has taken the run over")

// The tables, in SQLite and PostgreSQL. Times are seconds since 1970.
const (
	Tokens        = "understudy_fence"
	TokensColumns = "(scope TEXT PRIMARY KEY, token BIGINT NOT NULL, at BIGINT NOT NULL)"

	Steps        = "understudy_step"
	StepsColumns = "(key TEXT PRIMARY KEY, result BYTEA, at BIGINT NOT NULL)"
)

// raise waits until other transactions that have raised the token of the scope have ended. It
// also writes a token that is the same, so that no isolation level overlooks them.
const raise = `INSERT INTO understudy_fence (scope, token, at) VALUES ($1, $2, $3)
ON CONFLICT (scope) DO UPDATE SET token = excluded.token, at = excluded.at WHERE understudy_fence.token <= excluded.token`

// An Execer is a transaction.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Raise notes the token of a scope in tx, or returns ErrReplaced if there was a higher one.
func Raise(ctx context.Context, tx Execer, scope string, token uint64) error {
	result, err := tx.ExecContext(ctx, raise, scope, int64(token), time.Now().Unix())
	if err != nil {
		return fmt.Errorf("outside: fence %s: %w", scope, err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: %s, token %d", ErrReplaced, scope, token)
	}
	return err
}

// Begin begins a transaction that ctx does not end. It stops waiting for a connection when ctx
// ends.
func Begin(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	tx, err := db.BeginTx(life, nil)
	stop()
	return tx, err
}

// The savepoint after which everything can be undone without the token.
const (
	Save = "SAVEPOINT understudy_step"
	undo = "ROLLBACK TO SAVEPOINT understudy_step"
)

// Undo undoes what has happened in tx after Save, and keeps the rest.
func Undo(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, undo); err != nil {
		_ = tx.Rollback() // the connection is gone, or it has been rolled back
		return err
	}
	return tx.Commit()
}
