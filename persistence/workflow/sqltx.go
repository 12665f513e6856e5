package workflow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/persistence/internal/fence"
	"github.com/understudy-go/understudy/persistence/internal/sqltable"
)

// TxDDL returns the statements that create the tables of [Tx] in PostgreSQL, in the first schema
// of the search path. They may be run again.
func TxDDL() string {
	return sqltable.DDL(fence.Tokens, fence.TokensColumns) + sqltable.DDL(fence.Steps, fence.StepsColumns)
}

// sqlTransactions are those of [Tx].
type sqlTransactions struct{ db *sql.DB }

// Begin implements [Transactions]. The token is written first, so the transaction has a lock for
// the run until it ends.
func (t sqlTransactions) Begin(ctx context.Context, scope string, token uint64, key string) (*sql.Tx, []byte, error) {
	tx, result, err := t.begin(ctx, scope, token, key)
	if err == nil || errors.Is(err, fence.ErrReplaced) || ctx.Err() != nil {
		return tx, result, err
	}
	for _, table := range []struct{ name, columns string }{{fence.Tokens, fence.TokensColumns}, {fence.Steps, fence.StepsColumns}} {
		if bad := sqltable.New(t.db, table.name, table.columns).Create(ctx); bad != nil {
			return nil, nil, fmt.Errorf("workflow: %w", errors.Join(bad, err))
		}
	}
	return t.begin(ctx, scope, token, key)
}

func (t sqlTransactions) begin(ctx context.Context, scope string, token uint64, key string) (_ *sql.Tx, result []byte, err error) {
	tx, err := fence.Begin(ctx, t.db)
	if err != nil {
		return nil, nil, err
	}
	if err = fence.Raise(ctx, tx, scope, token); err == nil {
		_, err = tx.ExecContext(ctx, fence.Save)
	}
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT result FROM understudy_step WHERE key = $1", key).Scan(&result)
	}
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return tx, result, nil
	}
	return nil, nil, errors.Join(err, tx.Rollback())
}

// Commit implements [Transactions].
func (t sqlTransactions) Commit(ctx context.Context, tx *sql.Tx, _ string, _ uint64, key string, result []byte) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO understudy_step (key, result, at) VALUES ($1, $2, $3)", key, result, time.Now().Unix())
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Undo implements [Transactions].
func (t sqlTransactions) Undo(ctx context.Context, tx *sql.Tx) error { return fence.Undo(ctx, tx) }
