//go:build !race

package projection_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
)

// A table has the last sale of each shop. A shop that is forgotten leaves the table, too.
func ExampleForgotten() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	db, err := sql.Open("sqlite", filepath.Join(dir, "shops.db"))
	check(err)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE shop (id TEXT PRIMARY KEY, last TEXT NOT NULL)")
	check(err)

	store := journal.NewMemory()
	shops := projection.New("shops", store, journal.Query{Tag: "sales"},
		projection.InTx(db, func(ctx context.Context, tx *sql.Tx, e projection.Event[sold]) error {
			if e.Forgotten {
				_, err := tx.ExecContext(ctx, "DELETE FROM shop WHERE id = ?", e.ID)
				return err
			}
			_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO shop VALUES (?, ?)", e.ID, e.Event.Item)
			return err
		}), projection.Forgotten())
	rows := func() (n int) {
		_, err := shops.CatchUp(ctx)
		check(err)
		check(db.QueryRow("SELECT count(*) FROM shop").Scan(&n))
		return n
	}
	sell(ctx, store, "hat", "coat")
	fmt.Println(rows(), "shop")
	check(persistence.Forget(ctx, store, "shop-1"))
	fmt.Println(rows(), "shops")
	// Output:
	// 1 shop
	// 0 shops
}
