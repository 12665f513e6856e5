package pg

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A DB is a table, with a pool of connections to its database. Its methods may be called from any
// goroutine.
//
// The version of the table is checked before the first statement, which therefore takes one request
// more. If the table is newer, this statement and all later ones fail with [ErrNewerSchema], until
// [DB.Migrate] finds an older table.
type DB struct {
	Table
	Pool    *pgxpool.Pool // for requests that are not statements on the table
	owned   bool
	verdict atomic.Pointer[verdict] // nil until the table is found
}

// Open makes a pool with the settings of [ParseConfig]. It does not connect yet.
func Open(connString string, t Table) (*DB, error) {
	if err := t.validate(); err != nil {
		return nil, err
	}
	config, err := ParseConfig(connString)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &DB{Table: t, Pool: pool, owned: true}, nil
}

// New uses the caller's pool, which the caller closes.
func New(pool *pgxpool.Pool, t Table) (*DB, error) {
	if pool == nil {
		return nil, errors.New("New needs a pool; make one with pgxpool.New, or use Open")
	}
	if err := t.validate(); err != nil {
		return nil, err
	}
	return &DB{Table: t, Pool: pool}, nil
}

// Close closes the connections that [Open] made, and waits for requests in progress. After [New] it
// does nothing.
func (db *DB) Close() {
	if db.owned {
		db.Pool.Close()
	}
}

// QueryRow runs a statement on the table in one request, without preparing it, so it works behind
// any pooler.
func (db *DB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := db.known(ctx); err != nil {
		return failedRow{err}
	}
	return db.request(ctx, sql, args...)
}

// Its statement was not sent.
type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

// Query is QueryRow for any number of rows.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := db.known(ctx); err != nil {
		return nil, err
	}
	return db.Pool.Query(ctx, sql, unprepared(args)...)
}

// request is QueryRow without the check of the version.
func (db *DB) request(ctx context.Context, sql string, args ...any) pgx.Row {
	return db.Pool.QueryRow(ctx, sql, unprepared(args)...)
}

func unprepared(args []any) []any { return append([]any{pgx.QueryExecModeExec}, args...) }
