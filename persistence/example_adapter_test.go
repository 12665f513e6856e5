package persistence_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Since version 1, accounts are in cents. Older events are in euros, and stay unchanged in the
// journal. Audits no longer exist, and their type is not registered any more.
func ExampleOptions_fromJournal() {
	ctx := context.Background()
	store := journal.NewMemory()
	claim, err := store.Claim(ctx, "account-1", journal.WriterID{}, journal.Bounds{})
	fmt.Println(err)
	fmt.Println(store.Append(ctx, []journal.AppendRequest{{ID: "account-1", Epoch: claim.Epoch, Records: []journal.Record{
		{Seq: 1, Epoch: claim.Epoch, Type: "account.deposited", Payload: []byte("\xa1fAmount\x18\x3c")}, // {"Amount": 60}
		{Seq: 2, Epoch: claim.Epoch, Type: "account.audited", Payload: []byte("\xa0")},
	}}})[0])

	account := behaviors.EventSourced("account-1", store, 0, book, decide,
		persistence.Options[accountMsg, accountEvent, int]{ToJournal: func(event accountEvent) (any, int) { return event, 1 }, FromJournal: func(stored persistence.StoredEvent) ([]accountEvent, error) {
			switch {
			case stored.Type == "account.audited":
				return nil, nil
			case stored.Type == "account.deposited" && stored.Version < 1:
				var old struct{ Amount int }
				err := stored.Decode(&old)
				return []accountEvent{deposited{Amount: 100 * old.Amount}}, err
			}
			return persistence.Unchanged[accountEvent](stored)
		}})
	system := actor.NewSystem("bank")
	for _, cents := range []int{6000, 1} {
		reply, err := actor.Ask(ctx, actor.Spawn(system, account, ""), func(r actor.ActorRef[string]) accountMsg { return withdraw{cents, r} })
		fmt.Println(reply, err)
	}
	fmt.Println(system.Shutdown(ctx))
	// Output:
	// <nil>
	// <nil>
	// here you are <nil>
	// not enough <nil>
	// <nil>
}
