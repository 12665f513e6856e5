// Package sqltable creates a table in a database of package database/sql: SQLite or PostgreSQL.
package sqltable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/pgschema"
)

// A Table is a table that this process creates at most once. Its columns are the same in both
// databases.
type Table struct {
	db            *sql.DB
	name, columns string
	created       atomic.Bool
	sqlite        atomic.Bool
	turn          chan struct{} // has room for the one that looks and creates
}

// New returns a table with columns such as "(name TEXT PRIMARY KEY)". It does not access db.
func New(db *sql.DB, name, columns string) *Table {
	return &Table{db: db, name: name, columns: columns, turn: make(chan struct{}, 1)}
}

// DDL returns the statement that creates the table in PostgreSQL, in the first schema of the search
// path. It may be run again.
func DDL(name, columns string) string {
	return pgschema.Commented("", name, []string{"CREATE TABLE {table} " + columns + ";"}).SQL() + ";\n"
}

// Create creates the table if it does not exist.
func (t *Table) Create(ctx context.Context) error {
	if t.created.Load() {
		return nil
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if t.created.Load() {
		return nil
	}
	var version string
	t.sqlite.Store(t.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version) == nil)
	if t.isJournal(ctx) {
		return fmt.Errorf("the table %s would be in the file of a journal, whose writers would wait for it: open another file", t.name)
	}
	if !t.exists(ctx) {
		if _, err := t.db.ExecContext(ctx, t.ddl()); err != nil {
			return fmt.Errorf("create the table %s: %w", t.name, err)
		}
	}
	t.created.Store(true)
	return nil
}

// IsSQLite reports whether the database is SQLite. It is known once the table has been created.
func (t *Table) IsSQLite() bool { return t.sqlite.Load() }

// JournalID is the application_id of the files of package sqlite.
const JournalID = 0x556e6453 // "UndS"

func (t *Table) isJournal(ctx context.Context) bool {
	var id int64
	return t.IsSQLite() && t.db.QueryRowContext(ctx, "SELECT application_id FROM pragma_application_id").Scan(&id) == nil && id == JournalID
}

// exists reports whether this program can read the table. It looks without creating, because a
// role that may use the table need not have the right to create it.
func (t *Table) exists(ctx context.Context) bool {
	var one int
	err := t.db.QueryRowContext(ctx, "SELECT 1 FROM "+t.name+" LIMIT 1").Scan(&one)
	return err == nil || errors.Is(err, sql.ErrNoRows)
}

// ddl returns the statement for the database. Each takes a lock, PostgreSQL's by itself.
func (t *Table) ddl() string {
	if t.IsSQLite() {
		return "CREATE TABLE IF NOT EXISTS " + t.name + " " + t.columns
	}
	return DDL(t.name, t.columns)
}
