package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/understudy-go/understudy/persistence/internal/sqltable"

	"github.com/understudy-go/understudy/persistence/journal"
)

// applicationID marks our files, in the header of the database.
const applicationID = sqltable.JournalID

// migrations bring the tables from each version to the next. Existing ones never change; new ones
// are added at the end. user_version, in the header of the database, is the number of those that
// were applied.
//
// An entity is a persistence id. ord orders all events of the database by commit,
// because there is one writer at a time.
//
// The index of timers has all that [Journal.Wakes] needs, in its order. Their table is ordered by
// its key, because the timers of an id are read together.
//
// A reader has read all events up to number ord of the ids in the slices from first to last.
var migrations = []string{`
CREATE TABLE entity (
	id         INTEGER PRIMARY KEY,
	pid        TEXT NOT NULL UNIQUE,
	epoch      INTEGER NOT NULL,
	writer     BLOB NOT NULL,
	seq        INTEGER NOT NULL,
	deleted_to INTEGER NOT NULL,
	crc        INTEGER NOT NULL
) STRICT;
CREATE TABLE event (
	ord     INTEGER PRIMARY KEY AUTOINCREMENT,
	eid     INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	epoch   INTEGER NOT NULL,
	writer  BLOB NOT NULL,
	sec     INTEGER NOT NULL,
	nsec    INTEGER NOT NULL,
	type    TEXT NOT NULL,
	tags    TEXT,
	meta    TEXT,
	payload BLOB NOT NULL,
	crc     INTEGER NOT NULL,
	UNIQUE (eid, seq)
) STRICT;
CREATE TABLE event_tag (
	tag TEXT NOT NULL,
	ord INTEGER NOT NULL,
	PRIMARY KEY (tag, ord)
) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot (
	eid     INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	epoch   INTEGER NOT NULL,
	sec     INTEGER NOT NULL,
	nsec    INTEGER NOT NULL,
	type    TEXT NOT NULL,
	payload BLOB NOT NULL,
	crc     INTEGER NOT NULL,
	UNIQUE (eid, seq)
) STRICT;
CREATE TABLE timer (
	pid     TEXT NOT NULL,
	key     TEXT NOT NULL,
	due     INTEGER NOT NULL,
	slice   INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	type    TEXT NOT NULL,
	payload BLOB NOT NULL,
	crc     INTEGER NOT NULL,
	PRIMARY KEY (pid, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX timer_wake ON timer (due, pid, slice);
CREATE TABLE reader (
	name  TEXT NOT NULL PRIMARY KEY,
	first INTEGER NOT NULL,
	last  INTEGER NOT NULL,
	ord   INTEGER NOT NULL,
	sec   INTEGER NOT NULL,
	nsec  INTEGER NOT NULL,
	crc   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`}

// prepareFile makes sure that the database is a journal of the version to which migrations lead.
// It returns the version that the file had, 0 if it was empty. The caller holds the fair lock, so
// that each migration is applied once.
func prepareFile(ctx context.Context, conn *sql.Conn, migrations []string) (was int, err error) {
	var application, tables int
	err = conn.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&application, &was, &tables)
	switch known := len(migrations); {
	case err != nil:
		return 0, err
	case application == applicationID && was > known:
		return 0, fmt.Errorf("%w: it has version %d, this program knows %d; use a newer build of the program", ErrNewerSchema, was, known)
	case application == applicationID && (was < 0 || was == 0 && tables != 0):
		return 0, fmt.Errorf("%w: its header says version %d, which no journal has; restore a backup", journal.ErrCorrupt, was)
	case application != applicationID && (application != 0 || tables != 0):
		return 0, fmt.Errorf("%w: it is an SQLite database of another application; use a file of its own", ErrNotJournal)
	case application != applicationID:
		was = 0 // any other application may have set user_version
	}
	if err := useWAL(ctx, conn); err != nil {
		return 0, err
	}
	if was == len(migrations) {
		return was, checkWritable(ctx, conn)
	}
	return was, migrate(ctx, conn, was, migrations)
}

// migrate applies the migrations after version was in one transaction. If one fails, the caller
// closes the connection, which rolls all of them back. ctx bounds the wait for other processes, and
// a migration of a large file may take longer.
func migrate(ctx context.Context, conn *sql.Conn, was int, migrations []string) error {
	_, err := conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
		strings.Join(migrations[was:], ""), applicationID, len(migrations)))
	return err
}

func useWAL(ctx context.Context, conn *sql.Conn) error {
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not support write-ahead logging (journal mode is %q); use a local disk", mode)
	}
	return nil
}

// checkWritable detects a read-only file at Open, before the first append.
func checkWritable(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE; ROLLBACK")
	return err
}
