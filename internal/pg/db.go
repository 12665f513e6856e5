package pg

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A DB is a table, with a pool of connections to its database. Its methods may be called from any
// goroutine.
type DB struct {
	Table
	Pool  *pgxpool.Pool
	owned bool
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
	return &DB{t, pool, true}, nil
}

// New uses the caller's pool, which the caller closes.
func New(pool *pgxpool.Pool, t Table) (*DB, error) {
	if pool == nil {
		return nil, errors.New("New needs a pool; make one with pgxpool.New, or use Open")
	}
	if err := t.validate(); err != nil {
		return nil, err
	}
	return &DB{t, pool, false}, nil
}

// Close closes the connections that [Open] made, and waits for requests in progress. After [New] it
// does nothing.
func (db *DB) Close() {
	if db.owned {
		db.Pool.Close()
	}
}

// QueryRow runs a statement in one request, without preparing it, so it works behind any pooler.
func (db *DB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return db.Pool.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
}
