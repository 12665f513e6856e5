package projection

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence/internal/sqltable"
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
	table *sqltable.Table
}

// NewSQLOffsets returns the offsets in db. It does not access db before the first use.
func NewSQLOffsets(db *sql.DB) *SQLOffsets {
	return &SQLOffsets{db: db, table: sqltable.New(db, offsetsTable, offsetsColumns)}
}

// Load implements [OffsetStore].
func (o *SQLOffsets) Load(ctx context.Context, name string) (journal.Offset, error) {
	if err := o.table.Create(ctx); err != nil {
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
	if err := o.table.Create(ctx); err != nil {
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
// "file:PATH?_pragma=busy_timeout(5000)". The file of a journal is refused, because its writers
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

const (
	offsetsTable   = "projection_offset"
	offsetsColumns = "(name TEXT PRIMARY KEY, pos TEXT NOT NULL)"
)

// DDL returns the statement that creates the table of [SQLOffsets] in PostgreSQL, for migration
// tools and for roles that may not create tables. The table is in the first schema of the search
// path. The statement may be run again.
func DDL() string { return sqltable.DDL(offsetsTable, offsetsColumns) }
