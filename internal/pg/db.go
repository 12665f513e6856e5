package pg

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A DB is a table, and a pool of connections to the database that has it. Its methods may be
// called from any goroutine.
type DB struct {
	Table
	Pool  *pgxpool.Pool
	owned bool
}

// Open makes a pool of its own, as [ParseConfig] says, and does not connect yet.
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

// New uses a pool that stays its caller's.
func New(pool *pgxpool.Pool, t Table) (*DB, error) {
	if pool == nil {
		return nil, errors.New("New needs a pool; make one with pgxpool.New, or use Open")
	}
	if err := t.validate(); err != nil {
		return nil, err
	}
	return &DB{t, pool, false}, nil
}

// Close closes the connections that [Open] made, and waits for the requests under way.
// After [New] it does nothing.
func (db *DB) Close() {
	if db.owned {
		db.Pool.Close()
	}
}

// QueryRow runs a statement in one request and without preparing it, so that any pooler may
// be in between.
func (db *DB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return db.Pool.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
}
