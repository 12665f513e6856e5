package persistence_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

type (
	accountMsg interface{ accountMsg() }
	deposit    struct{ Amount int }
	withdraw   struct {
		Amount  int
		ReplyTo actor.ActorRef[string]
	}

	accountEvent interface{ accountEvent() }
	deposited    struct{ Amount int }
	withdrawn    struct{ Amount int }
)

func (deposit) accountMsg()     {}
func (withdraw) accountMsg()    {}
func (deposited) accountEvent() {}
func (withdrawn) accountEvent() {}

func init() {
	actor.RegisterType[deposited]("account.deposited")
	actor.RegisterType[withdrawn]("account.withdrawn")
}

func book(balance int, event accountEvent) int {
	switch event := event.(type) {
	case deposited:
		return balance + event.Amount
	case withdrawn:
		return balance - event.Amount
	}
	return balance
}

func decide(_ *actor.Context[accountMsg], balance int, msg accountMsg) persistence.Effect[accountEvent] {
	switch msg := msg.(type) {
	case deposit:
		return persistence.Persist[accountEvent](deposited(msg))
	case withdraw:
		if msg.Amount > balance {
			msg.ReplyTo.Tell("not enough")
			return persistence.None
		}
		effect := persistence.Persist[accountEvent](withdrawn{msg.Amount})
		return persistence.ThenReply(effect, msg.ReplyTo, "here you are")
	}
	return persistence.Unhandled
}

// An account is stopped and started again. It remembers its balance, because the journal has its
// events.
func Example() {
	ctx := context.Background()
	store := journal.NewMemory()
	for range 2 {
		system := actor.NewSystem("bank")
		account := actor.Spawn(system, behaviors.EventSourced("account-1", store, 0, book, decide), "account-1")
		account.Tell(deposit{Amount: 60})
		for range 2 {
			reply, err := actor.Ask(ctx, account, func(r actor.ActorRef[string]) accountMsg { return withdraw{50, r} })
			fmt.Println(reply, err)
		}
		if err := system.Shutdown(ctx); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// here you are <nil>
	// not enough <nil>
	// here you are <nil>
	// not enough <nil>
}
