package outside

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/persistence/internal/fence"
	"github.com/understudy-go/understudy/persistence/internal/sqltable"
)

// DDL returns the statements that create the tables of [Fence] and [SQL] in PostgreSQL, in the
// first schema of the search path. They may be run again.
func DDL() string {
	return sqltable.DDL(fence.Tokens, fence.TokensColumns) + sqltable.DDL(answers, answersColumns)
}

const (
	answers        = "understudy_answer"
	answersColumns = "(key TEXT PRIMARY KEY, request TEXT NOT NULL, status INTEGER NOT NULL, header TEXT NOT NULL, body BYTEA, at BIGINT NOT NULL)"
)

// An Execer executes statements in one transaction, as a *sql.Tx does.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Fence notes the token of the [Caller] of ctx in tx, or returns [ErrReplaced] if a higher token
// of its run has been there. Then roll back, and nothing of the transaction happens for a process
// that was replaced. Call it first: until the transaction ends, those of the same run wait for
// it. It returns [ErrNoStep] if ctx has no caller.
//
// tx is a transaction of an SQLite or PostgreSQL database, in which [Migrate] or [DDL] has made
// the table understudy_fence. The transaction of [TxOf] is fenced already. A
// fence is no protection against repetition; [workflow.Tx] has both.
func Fence(ctx context.Context, tx Execer) error {
	c := CallerOf(ctx)
	if c.Scope == "" {
		return ErrNoStep
	}
	return fence.Raise(ctx, tx, c.Scope, c.Token)
}

// Migrate creates the tables of [Fence] and [SQL] in db if they do not exist.
func Migrate(ctx context.Context, db *sql.DB) error { return NewSQL(db).create(ctx) }

// SQL is a [Store] in an SQLite or PostgreSQL database. It handles each request in a transaction,
// which also has the token and the answer, and which [TxOf] returns: so what a handler does
// through that happens exactly once. Requests of one run wait for one another. In SQLite, all
// that write wait.
//
// A handler that works with db beside TxOf takes a second connection of its pool; it may not
// write to SQLite so, since it would wait for itself.
//
// It creates its tables if they do not exist, see [DDL]. It keeps all answers and tokens until
// they are deleted, for example those of last month:
//
//	DELETE FROM understudy_answer WHERE at < $1 -- seconds since 1970
//	DELETE FROM understudy_fence WHERE at < $1
//
// In PostgreSQL set idle_in_transaction_session_timeout, because a receiver that is stopped keeps
// its locks. Open an SQLite database with a busy_timeout, as
// "file:PATH?_pragma=busy_timeout(5000)". The file of a journal is refused, because its writers
// would wait.
type SQL struct {
	db             *sql.DB
	tokens, stored *sqltable.Table
}

// NewSQL returns the store in db. It does not access db before the first use.
func NewSQL(db *sql.DB) *SQL {
	if db == nil {
		panic("outside: NewSQL needs a database")
	}
	return &SQL{db, sqltable.New(db, fence.Tokens, fence.TokensColumns), sqltable.New(db, answers, answersColumns)}
}

func (s *SQL) create(ctx context.Context) error {
	if err := s.tokens.Create(ctx); err != nil {
		return err
	}
	return s.stored.Create(ctx)
}

type txKey struct{}

// TxOf returns the transaction in which a [Handler] with a [SQL] store handles the request of
// ctx. It is committed with the answer, and rolled back if that is not final, see [Answer.Final].
// It is nil for requests without the headers, and with another store.
func TxOf(ctx context.Context) *sql.Tx {
	tx, _ := ctx.Value(txKey{}).(*sql.Tx)
	return tx
}

// Once implements [Store].
func (s *SQL) Once(ctx context.Context, c Call, do func(context.Context) Answer) (Answer, error) {
	if err := s.create(ctx); err != nil {
		return Answer{}, fmt.Errorf("outside: %w", err)
	}
	tx, err := fence.Begin(ctx, s.db)
	if err != nil {
		return Answer{}, fmt.Errorf("outside: %w", err)
	}
	a, err := handleIn(ctx, tx, c, do)
	if err != nil {
		_ = tx.Rollback() // also after it has ended
	}
	return a, err
}

// handleIn is Once in tx, which it ends if it returns no error, and also if do panics.
func handleIn(ctx context.Context, tx *sql.Tx, c Call, do func(context.Context) Answer) (a Answer, err error) {
	if c.Scope != "" {
		if err := fence.Raise(ctx, tx, c.Scope, c.Token); err != nil {
			return a, err
		}
	}
	if _, err := tx.ExecContext(ctx, fence.Save); err != nil {
		return a, fmt.Errorf("outside: %w", err)
	}
	lasting := context.WithoutCancel(ctx) // what is done counts, whether or not anybody waits
	if c.Key != "" {
		if a, err = reserve(ctx, tx, c); err != nil || a.Status != 0 {
			return a, firstOf(err, func() error { return fence.Undo(lasting, tx) })
		}
	}
	final := false
	defer func() {
		if !final {
			err = firstOf(err, func() error { return fence.Undo(lasting, tx) })
		}
	}()
	a = do(context.WithValue(ctx, txKey{}, tx))
	if final = a.Final(); !final {
		return a, nil
	}
	if c.Key != "" {
		if err := keep(lasting, tx, c.Key, a); err != nil {
			return a, err
		}
	}
	return a, tx.Commit()
}

func firstOf(err error, f func() error) error {
	if err != nil {
		return err
	}
	return f()
}

// reserve takes a key, waits until others with it have ended, and returns its answer, if there is
// one.
func reserve(ctx context.Context, tx *sql.Tx, c Call) (a Answer, err error) {
	_, err = tx.ExecContext(ctx, `INSERT INTO understudy_answer (key, request, status, header, body, at) VALUES ($1, $2, 0, '{}', NULL, $3)
		ON CONFLICT (key) DO UPDATE SET key = excluded.key`, c.Key, c.Request, time.Now().Unix())
	var request, header string
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT request, status, header, body FROM understudy_answer WHERE key = $1", c.Key).
			Scan(&request, &a.Status, &header, &a.Body)
	}
	if err == nil {
		err = json.Unmarshal([]byte(header), &a.Header)
	}
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("outside: find the answer to %s: %w", c.Key, err)
	case request != c.Request:
		return Answer{}, fmt.Errorf("%w: %s", ErrKeyUsed, request)
	}
	return a, nil
}

// keep stores an answer.
func keep(ctx context.Context, tx *sql.Tx, key string, a Answer) error {
	header, err := json.Marshal(a.Header)
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE understudy_answer SET status = $2, header = $3, body = $4, at = $5 WHERE key = $1", key, a.Status, string(header), a.Body, time.Now().Unix())
	}
	if err != nil {
		return fmt.Errorf("outside: store the answer to %s: %w", key, err)
	}
	return nil
}
