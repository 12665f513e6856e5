package persistence_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// The signal handler is informed about the life of the actor. The effect that it returns may store
// events, too.
func ExampleOptions_onSignal() {
	ctx := context.Background()
	system := actor.NewSystem("bank")
	bonus := persistence.Options[accountMsg, accountEvent, int]{OnSignal: func(_ *actor.Context[accountMsg], balance int, sig persistence.Signal) persistence.Effect[accountEvent] {
		switch sig := sig.(type) {
		case persistence.RecoveryCompleted:
			fmt.Println("recovered", sig.Seq, "events, balance", balance)
			if sig.Seq == 0 {
				return persistence.Persist[accountEvent](deposited{Amount: 10})
			}
			return persistence.None
		case actor.PostStop:
			fmt.Println("stopped, balance", balance)
			return persistence.None
		}
		return persistence.Unhandled
	}}
	store := journal.NewMemory()
	account := actor.Spawn(system, behaviors.EventSourced("account-1", store, 0, book, decide, bonus), "account-1")
	account.Tell(deposit{Amount: 60})
	reply, err := actor.Ask(ctx, account, func(r actor.ActorRef[string]) accountMsg { return withdraw{70, r} })
	fmt.Println(reply, err)
	if err := system.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// recovered 0 events, balance 0
	// here you are <nil>
	// stopped, balance 0
}
