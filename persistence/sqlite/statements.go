package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// statements are prepared once, on the connection that writes.
type statements struct {
	begin, commit, rollback       *sql.Stmt
	head, insertHead, updateHead  *sql.Stmt
	insertTag, sums               *sql.Stmt
	first, deleteTags, deleteRows *sql.Stmt
	claimTimers                   *sql.Stmt
	saveSnapshot, deleteSnapshots *sql.Stmt
	deleteTimers, wipe            *sql.Stmt

	deleteTombstone, deleteTombstoneTag *sql.Stmt
	saveReader, removeReader, unread    *sql.Stmt
	registered                          *sql.Stmt
	headForDeletion                     *sql.Stmt

	all []*sql.Stmt

	advanceHead, insertEvent directStmt
	setTimer, removeTimer    directStmt
}

func (s *statements) prepare(ctx context.Context, conn *sql.Conn) error {
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.rollback, "ROLLBACK"},
		{&s.head, selectHead},
		{&s.claimTimers, selectTimers + " LIMIT ?"},
		{&s.insertHead, "INSERT INTO entity (pid, epoch, writer, seq, deleted_to, crc) VALUES (?, ?, ?, ?, ?, ?)"},
		{&s.updateHead, "UPDATE entity SET epoch = ?, writer = ?, seq = ?, deleted_to = ?, crc = ? WHERE id = ?"},
		{&s.insertTag, "INSERT OR IGNORE INTO event_tag (tag, ord) VALUES (?, ?)"},
		{&s.sums, "SELECT crc FROM event WHERE eid = ? AND seq BETWEEN ? AND ? ORDER BY seq"},
		{&s.first, "SELECT coalesce(min(seq), 0) FROM event WHERE eid = ? AND seq > 0"},
		{&s.deleteTags, "DELETE FROM event_tag WHERE (tag, ord) IN (SELECT t.value, e.ord FROM event e, json_each(e.tags) t WHERE e.eid = ? AND e.seq BETWEEN 1 AND ?)"},
		{&s.deleteRows, "DELETE FROM event WHERE eid = ? AND seq BETWEEN 1 AND ?"},
		{&s.deleteTombstone, "DELETE FROM event WHERE eid = ? AND seq = 0"},
		{&s.deleteTombstoneTag, "DELETE FROM event_tag WHERE tag = '" + tombstoneTag + "' AND ord IN (SELECT ord FROM event WHERE eid = ? AND seq = 0)"},
		{&s.saveReader, "INSERT OR REPLACE INTO reader (name, first, last, ord, sec, nsec, crc) VALUES (?, ?, ?, ?, ?, ?, ?)"},
		{&s.removeReader, "DELETE FROM reader WHERE name = ?"},
		{&s.unread, selectUnread},
		{&s.registered, selectReaders},
		{&s.headForDeletion, selectHeadForDeletion},
		{&s.deleteTimers, "DELETE FROM timer WHERE pid = ?"},
		{&s.wipe, wipePages},
		{&s.saveSnapshot, "INSERT OR REPLACE INTO snapshot (eid, seq, epoch, sec, nsec, type, payload, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
		{&s.deleteSnapshots, "DELETE FROM snapshot WHERE eid = ?1 AND seq <= ?2 AND seq NOT IN (SELECT seq FROM snapshot WHERE eid = ?1 ORDER BY seq DESC LIMIT ?3)"},
	} {
		stmt, err := conn.PrepareContext(ctx, p.query)
		if err != nil {
			return err
		}
		*p.stmt = stmt
		s.all = append(s.all, stmt)
	}
	return errors.Join(
		s.advanceHead.prepare(ctx, conn, advanceHead, 7), s.insertEvent.prepare(ctx, conn, insertEvent, 11),
		s.setTimer.prepare(ctx, conn, setTimer, 8), s.removeTimer.prepare(ctx, conn, removeTimer, 2),
	)
}

// The statements of an append.
const (
	advanceHead = "UPDATE entity SET seq = ?, crc = ? WHERE id = ? AND epoch = ? AND seq = ? AND deleted_to = ? AND crc = ?"
	insertEvent = "INSERT INTO event (eid, seq, epoch, writer, sec, nsec, type, tags, meta, payload, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

// close must be called before the connection is closed. database/sql does not close the prepared
// statements of a connection, and SQLite keeps the file open while any exist.
func (s *statements) close() error {
	errs := []error{s.advanceHead.close(), s.insertEvent.close(), s.setTimer.close(), s.removeTimer.close()}
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

// A transaction is a job's access to the transaction in which it is applied.
type transaction struct {
	stmts *statements
	heads heads
	dirty bool // the job has begun to write
}

func (t *transaction) exec(stmt *sql.Stmt, args ...any) error {
	t.dirty = true
	_, err := stmt.Exec(args...)
	return storeError(err)
}

// A directStmt is a statement of the connection that writes, executed without database/sql, whose
// locks and conversions take a tenth of the time of an append. Only the committer uses it, and the
// connection belongs to the committer.
type directStmt struct {
	stmt interface {
		driver.Stmt
		driver.StmtExecContext
	}
	args []driver.NamedValue // set before exec
}

func (s *directStmt) prepare(ctx context.Context, conn *sql.Conn, query string, args int) error {
	s.args = make([]driver.NamedValue, args)
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	return conn.Raw(func(c any) error {
		prepared, err := c.(driver.ConnPrepareContext).PrepareContext(ctx, query) // the driver has it
		if err != nil {
			return err
		}
		direct, ok := prepared.(interface {
			driver.Stmt
			driver.StmtExecContext
		})
		if !ok {
			return fmt.Errorf("statements of the driver are %T", prepared)
		}
		s.stmt = direct
		return nil
	})
}

// set sets all arguments. A value is an int64, a string, a []byte or nil.
func (s *directStmt) set(values ...driver.Value) {
	for i, v := range values {
		s.args[i].Value = v
	}
}

func (s *directStmt) exec() (driver.Result, error) {
	result, err := s.stmt.ExecContext(context.Background(), s.args)
	return result, storeError(err)
}

func (s *directStmt) close() error {
	if s.stmt == nil {
		return nil
	}
	return s.stmt.Close()
}
