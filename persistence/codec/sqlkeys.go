package codec

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence/internal/sqltable"
	"github.com/understudy-go/understudy/persistence/journal"
)

// The statements work with SQLite and PostgreSQL. The secret of a destroyed key is NULL.
const (
	selectKey  = "SELECT secret FROM subject_key WHERE subject = $1"
	insertKey  = "INSERT INTO subject_key (subject, secret) VALUES ($1, $2) ON CONFLICT (subject) DO NOTHING"
	destroyKey = "INSERT INTO subject_key (subject, secret) VALUES ($1, NULL) ON CONFLICT (subject) DO UPDATE SET secret = NULL"

	keysTable   = "subject_key"
	keysColumns = "(subject TEXT PRIMARY KEY, secret TEXT)"
)

// NewSQLKeys returns [Keys] in the table subject_key of an SQL database. It does not access db
// before the first use, and then creates the table if it does not exist. For PostgreSQL, another
// role can create it with [KeysDDL].
//
// Take a database of its own, or one whose backups are not kept with those of the journal. The
// table has a row for each subject, also after its key has been destroyed. In SQLite the key is
// overwritten in the file and its log at once. In PostgreSQL its bytes stay until the table is
// vacuumed and the log is recycled.
//
// It has been tested with SQLite and, by package persistence/postgres, with PostgreSQL. Open an
// SQLite database with a busy_timeout, as "file:PATH?_pragma=busy_timeout(5000)".
func NewSQLKeys(db *sql.DB) Keys {
	if db == nil {
		panic("persistence: keys in a database that is nil")
	}
	return &sqlKeys{db, sqltable.New(db, keysTable, keysColumns)}
}

// KeysDDL returns the statement that creates the table of [NewSQLKeys] in PostgreSQL, in the first
// schema of the search path. It may be run again.
func KeysDDL() string { return sqltable.DDL(keysTable, keysColumns) }

type sqlKeys struct {
	db    *sql.DB
	table *sqltable.Table
}

func (k *sqlKeys) Find(ctx context.Context, subject string) ([]byte, error) {
	if err := k.table.Create(ctx); err != nil {
		return nil, err
	}
	var secret sql.NullString
	switch err := k.db.QueryRowContext(ctx, selectKey, subject).Scan(&secret); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case !secret.Valid:
		return nil, fmt.Errorf("%w: the key has been destroyed", ErrForgotten)
	}
	return hex.DecodeString(secret.String)
}

func (k *sqlKeys) Add(ctx context.Context, subject string, key []byte) ([]byte, error) {
	if err := k.table.Create(ctx); err != nil {
		return nil, err
	}
	if _, err := k.db.ExecContext(ctx, insertKey, subject, hex.EncodeToString(key)); err != nil {
		return nil, err
	}
	return k.Find(ctx, subject) // another node may have been first
}

func (k *sqlKeys) Destroy(ctx context.Context, subject string) error {
	if err := k.table.Create(ctx); err != nil {
		return err
	}
	if !k.table.IsSQLite() {
		_, err := k.db.ExecContext(ctx, destroyKey, subject)
		return err
	}
	conn, err := k.db.Conn(ctx) // of which the setting is
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, destroyKey, subject); err != nil {
		return err
	}
	// The log has the page as it was until it is written back.
	var busy, logged, moved int
	if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return fmt.Errorf("%w: the key has been destroyed, but the log of the database has it still, because somebody reads; call Forget again", journal.ErrUnavailable)
	}
	return nil
}
