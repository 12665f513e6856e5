//go:build !race

package projection_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
)

// A journal that deletes old events keeps those that a registered projection has not read. When the
// projection is retired, it says so.
func ExampleRegistered() {
	ctx := context.Background()
	store := journal.NewMemory()
	sales := projection.New("sales", store, journal.Query{},
		projection.AtLeastOnce(&projection.MemoryOffsets{}, func(_ context.Context, e projection.Event[sold]) error {
			fmt.Println("sold a", e.Event.Item)
			return nil
		}), projection.Registered())
	_, err := sales.CatchUp(ctx) // from now on the journal knows the projection
	check(err)

	sell(ctx, store, "hat", "coat")
	claim, err := store.Claim(ctx, "shop-1", journal.WriterID{}, journal.Bounds{})
	check(err)
	fmt.Println(store.DeleteTo(ctx, "shop-1", claim.Epoch, 2)) // Options.DeleteEvents calls it

	_, err = sales.CatchUp(ctx)
	check(err)
	fmt.Println(store.DeleteTo(ctx, "shop-1", claim.Epoch, 2))

	check(projection.Unregister(ctx, store, "sales"))
	// Output:
	// delete "shop-1": persistence: deleted up to record 0; the registered reader "sales" has not read the next one: delete again later, or call projection.Unregister if nobody needs it any more
	// sold a hat
	// sold a coat
	// <nil>
}
