package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Migrate creates the table and its schema if they do not exist, and brings an older table up to
// date. If nothing is to be done, it needs only the privileges to use the table. Any number of
// processes may call it at once.
func (db *DB) Migrate(ctx context.Context) error {
	if err := db.migrate(ctx); err != nil {
		return fmt.Errorf("postgres: migrate: %w", db.Explain(err))
	}
	return nil
}

func (db *DB) migrate(ctx context.Context) error {
	version, err := db.checkVersion(ctx)
	if err == nil && version < len(db.Migrations) {
		if _, err = db.Pool.Exec(ctx, db.DDL(), pgx.QueryExecModeExec); err == nil {
			_, err = db.checkVersion(ctx)
		}
	}
	if err != nil {
		return err
	}
	_, err = db.Pool.Exec(ctx, db.SQL("SELECT "+db.Columns+" FROM {table} LIMIT 0"), pgx.QueryExecModeExec)
	return err
}
