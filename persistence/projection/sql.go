package projection

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/pgschema"
	"github.com/understudy-go/understudy/persistence/journal"
)

// The statements work with SQLite and PostgreSQL. A statement that moves an offset waits until
// other transactions that have moved it have ended.
const (
	selectOffset = "SELECT pos FROM projection_offset WHERE name = $1"
	insertOffset = "INSERT INTO projection_offset (name, pos) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"
	updateOffset = "UPDATE projection_offset SET pos = $2 WHERE name = $1 AND pos = $3"
)

// SQLOffsets is an [OffsetStore] in an SQL database. It uses the table projection_offset, which has
// a row with the name and the offset of each projection. If a projection has several workers or
// held ids, it has more rows, whose names begin with the projection's name and "/". To restart a
// projection from the beginning, delete all its rows.
//
// It creates the table if it does not exist. If it exists, the role of db needs only the right to
// select, insert and update. For PostgreSQL, another role can create it with [DDL].
//
// It has been tested with SQLite and, by package persistence/postgres, with PostgreSQL.
type SQLOffsets struct {
	db    *sql.DB
	table *table
}

// NewSQLOffsets returns the offsets in db. It does not access db before the first use.
func NewSQLOffsets(db *sql.DB) *SQLOffsets { return &SQLOffsets{db: db, table: newTable(db)} }

// Load implements [OffsetStore].
func (o *SQLOffsets) Load(ctx context.Context, name string) (journal.Offset, error) {
	if err := o.table.create(ctx); err != nil {
		return "", err
	}
	var offset journal.Offset
	err := o.db.QueryRowContext(ctx, selectOffset, name).Scan(&offset)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("load the offset of %q: %w", name, err)
	}
	return offset, nil
}

// Save implements [OffsetStore].
func (o *SQLOffsets) Save(ctx context.Context, name string, after, to journal.Offset) error {
	if err := o.table.create(ctx); err != nil {
		return err
	}
	return o.inTx(ctx, func(tx *sql.Tx) error { return move(ctx, tx, name, after, to) })
}

func (o *SQLOffsets) inTx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// move is Save in tx.
func move(ctx context.Context, tx *sql.Tx, name string, after, to journal.Offset) error {
	query, args := updateOffset, []any{name, string(to), string(after)}
	if after == "" {
		query, args = insertOffset, args[:2]
	}
	result, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("save the offset of %q: %w", name, err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = moved(name, after)
	}
	return err
}

// InTx returns a handler that calls f for each event, in a transaction of db that also stores the
// offset. The effects of f through tx happen exactly once for each event, even after crashes; other
// effects of f may be repeated. f must not commit or roll back, and must return the errors of tx.
//
// A transaction has the events of a batch. If one event fails, the transaction is rolled back, and
// the events are handled again one by one. The offset is moved first: if two projections of the
// same name run by mistake, the second waits for the first and then fails with [ErrMoved]. As this
// makes an overlap harmless, a singleton with such a projection is replaced after a crash without
// the margin; see singleton.RemovalMargin.
//
// The offsets are in the table of [SQLOffsets]. Open an SQLite database with a busy_timeout, as
// "file:PATH?_pragma=busy_timeout(5000)". Do not use the file of a journal, because its writers
// would wait.
func InTx[E any](db *sql.DB, f func(ctx context.Context, tx *sql.Tx, e Event[E]) error) Handler[E] {
	mustHave("InTx", db != nil && f != nil)
	return &inTx[E]{SQLOffsets: NewSQLOffsets(db), f: f}
}

type inTx[E any] struct {
	*SQLOffsets
	f func(context.Context, *sql.Tx, Event[E]) error
}

// A fenced handler undoes what a projection does that another one of its name has overtaken.
type fenced interface{ fenced() }

func (*inTx[E]) fenced() {}

func (h *inTx[E]) Handle(ctx context.Context, b Batch[E]) (journal.Offset, error) {
	reached := b.After
	err := h.inTx(ctx, func(tx *sql.Tx) error {
		err := move(ctx, tx, b.Name, b.After, b.To)
		if err == nil {
			reached, err = b.Each(ctx, func(ctx context.Context, e Event[E]) error { return h.f(ctx, tx, e) })
		}
		if err != nil || reached == b.To {
			return err
		}
		return move(ctx, tx, b.Name, b.To, reached)
	})
	if err != nil {
		return b.After, err
	}
	return reached, nil
}

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
