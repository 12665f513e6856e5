package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/understudy-go/understudy/internal/pgschema"
	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

// Transactions are those of steps of workflows, in the database of the journal that has their
// runs. They implement workflow.Transactions[pgx.Tx], so the effect of a step and its result are
// in one transaction:
//
//	n, err := workflow.TxIn(w, "book", postgres.TransactionsOf(journal), func(ctx context.Context, tx pgx.Tx) (int64, error) {
//		tag, err := tx.Exec(ctx, "UPDATE account SET …")
//		return tag.RowsAffected(), err
//	})
//
// The token is the epoch of the run in the journal. A transaction commits only while that is the
// newest one, and the next claim waits for the commit. So nothing is committed for a process once
// another one has claimed the run, and no claim waits for f.
//
// Results are rows of the table understudy_step in the schema of the journal, which the first
// transaction creates; for a role that may not, another role creates it by the statement of
// workflow.TxDDL. Rows are of no use once the outcomes of their runs are in the journal, so
// delete old ones, see workflow.Tx. A transaction that says nothing to the server for 30 s is
// rolled back, unless idle_in_transaction_session_timeout is set, because its process may have
// been stopped. Each takes a connection of the pool of the journal, which it shares with the
// appends: see pool_max_conns in [Open].
type Transactions struct {
	j                *Journal
	reserve, confirm string
}

// TransactionsOf returns transactions in the database of the journal. Close of a journal with its
// own pool waits for those that are open.
func TransactionsOf(j *Journal) *Transactions {
	return &Transactions{j, inSchema(j.schema, reserveStep), inSchema(j.schema, confirmStep)}
}

const (
	// stepTable is the table of workflow.Tx.
	stepTable = "CREATE TABLE {table} (key TEXT PRIMARY KEY, result BYTEA, at BIGINT NOT NULL);"

	// bound ends the session of a process that was stopped: after $1, or after what is set.
	bound = `SELECT set_config('idle_in_transaction_session_timeout', CASE current_setting('idle_in_transaction_session_timeout') WHEN '0' THEN $1::text ELSE current_setting('idle_in_transaction_session_timeout') END, true), ` + pg.Durable

	// hurry is bound for the moment in which claims wait.
	hurry = `SELECT set_config('idle_in_transaction_session_timeout', '3s', true)`

	// reserveStep waits for other transactions with the key.
	reserveStep = `INSERT INTO {schema}.understudy_step AS s (key, at) VALUES ($1::text, $2::bigint)
ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING s.result`

	// confirmStep changes no row unless the epoch is the newest, and keeps claims from changing
	// that.
	confirmStep = `UPDATE {schema}.understudy_step s SET result = $2::bytea, at = $3::bigint
FROM (SELECT FROM {schema}.understudy_entity h WHERE h.pid = $4::text AND h.epoch = $5::bigint AND h.deleted_to <= h.seq FOR SHARE) newest
WHERE s.key = $1::text`
)

// Begin implements workflow.Transactions. It returns [journal.ErrFenced] if the run has a
// newer claim.
func (t *Transactions) Begin(ctx context.Context, scope string, token uint64, key string) (pgx.Tx, []byte, error) {
	tx, result, err := t.begin(ctx, scope, token, key)
	if pg.IsMissing(err) {
		plan := pgschema.Commented(t.j.schema, "understudy_step", []string{stepTable})
		if _, err := t.j.pool.Exec(ctx, plan.SQL(), pgx.QueryExecModeExec); err != nil {
			return nil, nil, fmt.Errorf("postgres: create the table of steps: %w", err)
		}
		tx, result, err = t.begin(ctx, scope, token, key)
	}
	return tx, result, err
}

func (t *Transactions) begin(ctx context.Context, scope string, token uint64, key string) (_ pgx.Tx, result []byte, err error) {
	tx, err := t.j.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return nil, nil, fmt.Errorf("postgres: begin a transaction: %w", err)
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback(context.WithoutCancel(ctx)) // it must give its connection back
		}
	}()
	if _, err = tx.Exec(ctx, bound, "30s"); err != nil {
		return nil, nil, fmt.Errorf("postgres: begin a transaction: %w", err)
	}
	h, known, err := t.j.head(ctx, tx, scope)
	switch {
	case err != nil:
		return nil, nil, err
	case !known:
		return nil, nil, fmt.Errorf("postgres: this journal does not have the run %s: take the journal of its system", scope)
	}
	if err = h.fence(known, token); err != nil {
		return nil, nil, wrap("begin a step of", scope, err)
	}
	if err = tx.QueryRow(ctx, t.reserve, key, time.Now().Unix()).Scan(&result); err != nil {
		return nil, nil, fmt.Errorf("postgres: find the result of %s: %w", key, err)
	}
	return tx, result, nil
}

// Commit implements workflow.Transactions. It returns [journal.ErrFenced] if the run has
// been claimed meanwhile.
func (t *Transactions) Commit(ctx context.Context, tx pgx.Tx, scope string, token uint64, key string, result []byte) error {
	b := &pgx.Batch{}
	confirmed := false
	b.Queue(hurry)
	b.Queue(t.confirm, key, result, time.Now().Unix(), scope, int64(token)).Exec(func(tag pgconn.CommandTag) error {
		confirmed = tag.RowsAffected() == 1
		return nil
	})
	err := tx.SendBatch(ctx, b).Close()
	if err == nil && !confirmed {
		err = t.refused(ctx, tx, scope, token)
	}
	if err != nil {
		_ = tx.Rollback(ctx) // it must give its connection back
		return err
	}
	return tx.Commit(ctx)
}

// refused returns why a transaction was not confirmed.
func (t *Transactions) refused(ctx context.Context, tx pgx.Tx, scope string, token uint64) error {
	if err := t.j.newest(ctx, tx, scope, token); err != nil {
		return wrap("commit a step of", scope, err)
	}
	return raced()
}

// Undo implements workflow.Transactions.
func (t *Transactions) Undo(ctx context.Context, tx pgx.Tx) error { return tx.Rollback(ctx) }
