//go:build !race

package workflow_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	_ "github.com/understudy-go/understudy/persistence/sqlite" // also registers the driver "sqlite"
	"github.com/understudy-go/understudy/persistence/workflow"
)

// The rows of a step are in the database exactly once, wherever its process dies: the result is
// committed with them.
func ExampleTx() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	must(err)
	defer func() { must(os.RemoveAll(dir)) }()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "books.db")+"?_pragma=busy_timeout(5000)")
	must(err)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE booking (account TEXT, amount INTEGER)")
	must(err)

	system := actor.NewSystem("bank", persistence.WithJournal(journal.NewMemory()))
	transfers, err := workflow.Start(system, "transfer", func(w *workflow.Run, amount int) (int64, error) {
		return workflow.Tx(w, "book", db, func(ctx context.Context, tx *sql.Tx) (int64, error) {
			result, err := tx.ExecContext(ctx, "INSERT INTO booking VALUES ('ann', -$1), ('ben', $1)", amount)
			if err != nil {
				return 0, err
			}
			return result.RowsAffected()
		})
	})
	must(err)
	transfer, err := transfers.Run(ctx, "4711", 20)
	must(err)
	rows, err := transfer.Result(ctx)
	must(err)
	fmt.Println(rows, "bookings")
	must(system.Shutdown(ctx))
	// Output: 2 bookings
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
