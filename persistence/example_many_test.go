package persistence_test

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A bank has many accounts, but few are used at a time. An idle account ends, and is spawned again
// when there is a message for it.
func ExampleOptions_passivateAfter() {
	type transaction struct {
		Account string
		Do      accountMsg
	}
	ctx := context.Background()
	store := journal.NewMemory()
	asleep := make(chan string)
	bank := behaviors.Setup(func(*actor.Context[transaction]) actor.Behavior[transaction] {
		awake := map[string]actor.ActorRef[accountMsg]{}
		return behaviors.Receive(func(ctx *actor.Context[transaction], t transaction) actor.Behavior[transaction] {
			account, ok := awake[t.Account]
			if !ok {
				fmt.Println("waking", t.Account)
				account = actor.Spawn(ctx, behaviors.EventSourced(t.Account, store, 0, book, decide,
					persistence.Options[accountMsg, accountEvent, int]{PassivateAfter: 10 * time.Millisecond}), "")
				ctx.Watch(account)
				awake[t.Account] = account
			}
			account.Tell(t.Do)
			return behaviors.Same
		}).OnSignal(func(_ *actor.Context[transaction], sig actor.Signal) actor.Behavior[transaction] {
			if end, ok := sig.(actor.Terminated); ok {
				for id, ref := range awake {
					if end.Ref == ref {
						delete(awake, id)
						asleep <- id
					}
				}
			}
			return behaviors.Same
		})
	})

	system := actor.NewSystem("bank")
	persistence.LimitRecoveries(system, 10)
	ref := actor.Spawn(system, bank, "bank")
	ref.Tell(transaction{"account-1", deposit{Amount: 60}})
	for range 2 {
		fmt.Println(<-asleep, "sleeps")
		reply, err := actor.Ask(ctx, ref, func(r actor.ActorRef[string]) transaction { return transaction{"account-1", withdraw{30, r}} })
		fmt.Println(reply, err)
	}
	fmt.Println(<-asleep, "sleeps")
	fmt.Println(system.Shutdown(ctx))
	// Output:
	// waking account-1
	// account-1 sleeps
	// waking account-1
	// here you are <nil>
	// account-1 sleeps
	// waking account-1
	// here you are <nil>
	// account-1 sleeps
	// <nil>
}
