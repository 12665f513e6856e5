//go:build !race

package projection_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	_ "github.com/understudy-go/understudy/persistence/sqlite" // also registers the driver "sqlite"
)

type sold struct{ Item string }

func init() { actor.RegisterType[sold]("shop.sold") }

func sell(ctx context.Context, store persistence.Journal, items ...string) {
	claim, err := store.Claim(ctx, "shop-1", journal.WriterID{}, journal.Bounds{})
	check(err)
	req := journal.AppendRequest{ID: "shop-1", Epoch: claim.Epoch, Prev: claim.LastSeq}
	for i, item := range items {
		event, err := extension.Pack(sold{item})
		check(err)
		req.Records = append(req.Records, journal.Record{
			Seq: claim.LastSeq + uint64(i) + 1, Epoch: claim.Epoch, Type: event.Type, Payload: event.Data, Tags: []string{"sales"},
		})
	}
	check(store.Append(ctx, []journal.AppendRequest{req})[0])
}

// A table counts the sales. The connection between journal and table may break at any moment: each
// sale is counted once.
func ExampleInTx() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	db, err := sql.Open("sqlite", filepath.Join(dir, "sales.db"))
	check(err)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE sales (item TEXT PRIMARY KEY, n INTEGER NOT NULL)")
	check(err)

	store := journal.NewMemory()
	sell(ctx, store, "hat", "coat", "hat")
	sales := projection.New("sales", store, journal.Query{Tag: "sales"},
		projection.InTx(db, func(ctx context.Context, tx *sql.Tx, e projection.Event[sold]) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO sales VALUES (?, 1) ON CONFLICT (item) DO UPDATE SET n = n + 1", e.Event.Item)
			return err
		}))
	for range 2 { // the second time there is nothing to do
		status, err := sales.CatchUp(ctx)
		check(err)
		fmt.Println(status.Workers[0].Handled)
	}
	var hats int
	check(db.QueryRow("SELECT n FROM sales WHERE item = 'hat'").Scan(&hats))
	fmt.Println(hats, "hats")
	// Output:
	// 3
	// 0
	// 2 hats
}

// As an actor, a projection follows the journal. A client that needs the latest events asks it
// to catch up first.
func ExampleProjection_Behavior() {
	ctx := context.Background()
	store := journal.NewMemory()
	var items []string
	p := projection.New("items", store, journal.Query{Tag: "sales"},
		projection.AtLeastOnce(&projection.MemoryOffsets{}, func(_ context.Context, e projection.Event[sold]) error {
			items = append(items, e.Event.Item)
			return nil
		}))
	system := actor.NewSystem("shop")
	ref := actor.Spawn(system, behaviors.Singleton(p.Behavior), "items")

	sell(ctx, store, "hat")
	status, err := actor.Ask(ctx, ref, func(r actor.ActorRef[projection.Status]) projection.Command { return projection.CatchUp{ReplyTo: r} })
	check(err)
	fmt.Println(items, status.Workers[0].Offset)
	check(system.Shutdown(ctx))
	// Output: [hat] memory:1
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
