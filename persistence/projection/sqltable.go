package projection

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/pgschema"
)

// The columns are the same in PostgreSQL and SQLite.
const (
	offsetsTable   = "projection_offset"
	offsetsColumns = " (name TEXT PRIMARY KEY, pos TEXT NOT NULL)"
	findOffsets    = "SELECT name, pos FROM " + offsetsTable + " LIMIT 1"
	sqliteOffsets  = "CREATE TABLE IF NOT EXISTS " + offsetsTable + offsetsColumns
)

// DDL returns the statement that creates the table of [SQLOffsets] in PostgreSQL, for migration
// tools and for roles that may not create tables. The table is in the first schema of the search
// path. The statement may be run again.
func DDL() string {
	return pgschema.Commented("", offsetsTable, []string{"CREATE TABLE {table}" + offsetsColumns + ";"}).SQL() + ";\n"
}

// A table is the table of offsets, which this process creates at most once.
type table struct {
	db      *sql.DB
	created atomic.Bool
	turn    chan struct{} // has room for the one that looks and creates
}

func newTable(db *sql.DB) *table { return &table{db: db, turn: make(chan struct{}, 1)} }

func (t *table) create(ctx context.Context) error {
	if t.created.Load() {
		return nil
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if t.created.Load() || t.exists(ctx) {
		t.created.Store(true)
		return nil
	}
	if _, err := t.db.ExecContext(ctx, t.ddl(ctx)); err != nil {
		return fmt.Errorf("create the table of offsets: %w", err)
	}
	t.created.Store(true)
	return nil
}

// exists reports whether this program can read the table. It looks without creating, because a
// role that may use the table need not have the right to create it.
func (t *table) exists(ctx context.Context) bool {
	var name, pos string
	err := t.db.QueryRowContext(ctx, findOffsets).Scan(&name, &pos)
	return err == nil || errors.Is(err, sql.ErrNoRows)
}

// ddl returns the statement for the database. Each takes a lock, PostgreSQL's by itself.
func (t *table) ddl(ctx context.Context) string {
	var version string
	if t.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version) == nil {
		return sqliteOffsets
	}
	return DDL()
}
