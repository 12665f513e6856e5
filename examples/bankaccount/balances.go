package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
)

// Balances is the read model: a table of all accounts, for queries that no single account can
// answer.
type Balances struct{ db *sql.DB }

func openBalances(path string) (*Balances, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
	if err != nil {
		return nil, err
	}
	_, err = db.Exec("CREATE TABLE IF NOT EXISTS balance (account TEXT PRIMARY KEY, cents INTEGER NOT NULL, movements INTEGER NOT NULL)")
	return &Balances{db}, err
}

// projection keeps the table up to date. Each event is counted once, because the table and the
// offset change in one transaction.
func (b *Balances) projection(events journal.EventReader) *projection.Projection[Event] {
	return projection.New("balances", events, journal.Query{Tag: "account"}, projection.InTx(b.db, b.book))
}

func (b *Balances) book(ctx context.Context, tx *sql.Tx, e projection.Event[Event]) error {
	var cents int64
	switch event := e.Event.(type) {
	case Deposited:
		cents = event.Cents
	case Withdrawn:
		cents = -event.Cents
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO balance VALUES (?1, ?2, 1)
		ON CONFLICT (account) DO UPDATE SET cents = cents + ?2, movements = movements + 1`, e.ID, cents)
	return err
}

// print prints all accounts, the richest first.
func (b *Balances) print(ctx context.Context) error {
	rows, err := b.db.QueryContext(ctx, "SELECT account, cents, movements FROM balance ORDER BY cents DESC, account")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var cents, movements int
		if err := rows.Scan(&name, &cents, &movements); err != nil {
			return err
		}
		fmt.Printf("  %s: %d.%02d after %d movements\n", name, cents/100, cents%100, movements)
	}
	return rows.Err()
}
