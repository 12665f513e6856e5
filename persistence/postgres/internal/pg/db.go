package pg

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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

// Codes of the server's errors, to compare with the result of [Code].
const (
	OutOfRange      = "22003"
	NotUnique       = "23505"
	CheckFailed     = "23514"
	ReadOnly        = "25006"
	NoStatement     = "26000"
	UndefinedSchema = "3F000"
	Serialization   = "40001"
	Deadlock        = "40P01"
	NoPrivilege     = "42501"
	UndefinedColumn = "42703"
	DuplicateObject = "42710"
	UndefinedTable  = "42P01"
	SameStatement   = "42P05"
	DuplicateSchema = "42P06"
	DuplicateTable  = "42P07"
	DiskFull        = "53100"
	LimitExceeded   = "54000"
	Canceled        = "57014"
	DataCorrupted   = "XX001"
	IndexCorrupted  = "XX002"
)

// Code returns the server's code of an error, or "" if err does not come from the server.
func Code(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	return ""
}

// IsMissing reports whether err says that a table or its schema does not exist.
func IsMissing(err error) bool {
	return Code(err) == UndefinedTable || Code(err) == UndefinedSchema
}

// How long a connection may be silent if the connection string does not set it.
const (
	// connectTimeout bounds an attempt to connect. An attempt continues after its caller has given
	// up, and occupies a place in the pool.
	connectTimeout = 5 * time.Second
	// pingTimeout bounds the check of an idle connection, so that a vanished server does not use up
	// the time of the whole operation.
	pingTimeout = 2 * time.Second
)

// ParseConfig is [pgxpool.ParseConfig] for a pool that connects on demand. If connString does not
// set connect_timeout, an attempt to connect ends after 5 s.
func ParseConfig(connString string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(connString)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	config.MinConns, config.MinIdleConns = 0, 0 // the pool would wait for them
	return config, nil
}
