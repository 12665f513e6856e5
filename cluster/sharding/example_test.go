package sharding_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Deposit adds to the balance of an account, which it answers with the new one.
type Deposit struct {
	Amount  int
	ReplyTo actor.ActorRef[int]
}

// Deposited is the event of an account.
type Deposited struct{ Amount int }

func init() {
	actor.RegisterType[Deposit]("sharding-example.deposit")
	actor.RegisterType[Deposited]("sharding-example.deposited")
}

// Accounts by number, without a cluster: a *cluster.Node in place of the system is all that a
// cluster needs.
func Example() {
	ctx := context.Background()
	store := journal.NewMemory()
	system := actor.NewSystem("bank")
	defer func() { _ = system.Shutdown(ctx) }()

	accounts, err := sharding.Start(system, "account", func(e sharding.Entity) actor.Behavior[Deposit] {
		return behaviors.EventSourced(e.PersistenceID(), store, 0,
			func(balance int, d Deposited) int { return balance + d.Amount },
			func(_ *actor.Context[Deposit], balance int, d Deposit) persistence.Effect[Deposited] {
				return persistence.Persist(Deposited{d.Amount}).Then(func() { d.ReplyTo.Tell(balance + d.Amount) })
			})
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, number := range []string{"17", "42", "17"} {
		balance, err := actor.Ask(ctx, accounts.Ref(number), func(r actor.ActorRef[int]) Deposit { return Deposit{Amount: 10, ReplyTo: r} })
		fmt.Println(number, balance, err)
	}
	// Output:
	// 17 10 <nil>
	// 42 10 <nil>
	// 17 20 <nil>
}
