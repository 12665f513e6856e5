package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

const (
	// applicationID marks our files, in the header of the database.
	applicationID = 0x556e6453 // "UndS"
	schemaVersion = 1
)

// schema creates the tables. An entity is a persistence id. ord orders all events of the database
// by commit, because there is one writer at a time.
const schema = `
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
`

// prepareFile makes sure that the database is a journal of the version that this package
// writes. The caller holds the fair lock.
func prepareFile(ctx context.Context, conn *sql.Conn) error {
	var application, version, tables int
	err := conn.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&application, &version, &tables)
	if err != nil {
		return err
	}
	switch {
	case application == applicationID && version == schemaVersion:
		return errors.Join(useWAL(ctx, conn), checkWritable(ctx, conn))
	case application == applicationID && version > schemaVersion:
		return fmt.Errorf("%w: it has version %d, this program knows %d; use a newer build of the program", ErrNewerSchema, version, schemaVersion)
	case application != 0 || tables != 0:
		return fmt.Errorf("%w: it is an SQLite database of another application; use a file of its own", ErrNotJournal)
	}
	if err := useWAL(ctx, conn); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf(
		"BEGIN IMMEDIATE; %s PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", schema, applicationID, schemaVersion))
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
