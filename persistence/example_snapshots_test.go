package persistence_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A tally is the state of an account that counts its deposits. The field Deposits was added when
// snapshots without it existed.
type tally struct{ Balance, Deposits int }

func init() { actor.RegisterType[tally]("account.tally") }

// Snapshots of the former program lack what the new event handler computes. Deleted, they no longer
// hide the events. The claim comes first: it returns the epoch and the last sequence number that
// DeleteSnapshots needs, and fences off an actor that still runs, so that it saves no more of them.
// That actor fails with ErrFenced; an event-sourced singleton starts again by itself.
func Example_deleteSnapshots() {
	ctx := context.Background()
	store := journal.NewMemory()
	deposits := func(book func(tally, accountEvent) tally) {
		account := behaviors.EventSourced("account-1", store, tally{}, book,
			func(_ *actor.Context[accountMsg], state tally, msg accountMsg) persistence.Effect[accountEvent] {
				switch msg := msg.(type) {
				case deposit:
					return persistence.Persist[accountEvent](deposited(msg))
				case withdraw:
					msg.ReplyTo.Tell(fmt.Sprintf("%+v", state))
				}
				return persistence.None
			}, persistence.SnapshotEvery(2, 1))
		system := actor.NewSystem("bank")
		ref := actor.Spawn(system, account, "")
		ref.Tell(deposit{Amount: 60})
		fmt.Println(actor.Ask(ctx, ref, func(r actor.ActorRef[string]) accountMsg { return withdraw{ReplyTo: r} }))
		if err := system.Shutdown(ctx); err != nil {
			fmt.Println(err)
		}
	}
	without := func(t tally, e accountEvent) tally { t.Balance = book(t.Balance, e); return t }
	counting := func(t tally, e accountEvent) tally { t.Deposits++; return without(t, e) }
	deposits(without)
	deposits(without) // saves a snapshot

	claim, err := store.Claim(ctx, "account-1", journal.WriterID{}, journal.Bounds{})
	if err == nil {
		err = store.DeleteSnapshots(ctx, "account-1", claim.Epoch, claim.LastSeq, 0)
	}
	fmt.Println(err)
	deposits(counting)
	// Output:
	// {Balance:60 Deposits:0} <nil>
	// {Balance:120 Deposits:0} <nil>
	// <nil>
	// {Balance:180 Deposits:3} <nil>
}
