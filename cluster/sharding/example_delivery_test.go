//go:build !quick

package sharding_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A PurseMsg is a Payment or a CountCoins.
type PurseMsg interface{ purseMsg() }

// A Payment puts coins into a purse.
type Payment struct{ Coins int }

// CountCoins is answered with the number of coins in a purse.
type CountCoins struct{ ReplyTo actor.ActorRef[int] }

func (Payment) purseMsg()    {}
func (CountCoins) purseMsg() {}

// Paid is the event of a purse, whose state is the number of its coins.
type Paid struct{ Coins int }

func init() {
	actor.RegisterType[Payment]("sharding-example.payment")
	actor.RegisterType[CountCoins]("sharding-example.count-coins")
	actor.RegisterType[Paid]("sharding-example.paid")
	delivery.RegisterType[PurseMsg]("sharding-example.purse")
}

func paid(coins int, e Paid) int { return coins + e.Coins }

func handlePurse(_ *actor.Context[delivery.Delivery[PurseMsg]], coins int, d delivery.Delivery[PurseMsg]) persistence.Effect[Paid] {
	switch msg := d.Message.(type) {
	case CountCoins:
		return persistence.Reply[Paid](msg.ReplyTo, coins).Then(d.Confirm)
	case Payment:
		return persistence.Once(d.Key(), persistence.Persist(Paid(msg))).Then(d.Confirm)
	}
	return persistence.None
}

// Payments are delivered to purses at least once, and each is counted once, also when the producer
// starts again.
func Example_delivery() {
	ctx := context.Background()
	store := journal.NewMemory()
	system := actor.NewSystem("bank") // or a node of a cluster
	defer func() { _ = system.Shutdown(ctx) }()

	purses, err := sharding.Start(system, "purse", func(e sharding.Entity) actor.Behavior[delivery.Link[PurseMsg]] {
		return delivery.Consumer(behaviors.EventSourced(e.PersistenceID(), store, 0, paid, handlePurse))
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	queue := delivery.NewQueue("payments", store)
	payments := actor.Spawn(system, delivery.ProducerByID(purses.Lookup, delivery.WithQueue(queue)), "payments")
	for _, owner := range []string{"ada", "bob", "ada"} {
		outcome, err := actor.Ask(ctx, payments, func(r actor.ActorRef[delivery.Confirmed]) delivery.Command[PurseMsg] {
			return delivery.Send[PurseMsg]{To: owner, Message: Payment{Coins: 10}, ConfirmTo: r}
		})
		fmt.Println(owner, outcome.Number, err)
	}
	coins, err := actor.Ask(ctx, purses.Ref("ada"), func(r actor.ActorRef[int]) delivery.Link[PurseMsg] {
		return delivery.Direct[PurseMsg]{Message: CountCoins{r}}
	})
	fmt.Println(coins, err)
	// Output:
	// ada 1 <nil>
	// bob 2 <nil>
	// ada 3 <nil>
	// 20 <nil>
}
