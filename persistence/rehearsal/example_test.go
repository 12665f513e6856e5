package rehearsal_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/rehearsal"
)

type (
	put    struct{ Item string }
	putIn  struct{ Item string }
	booked struct{ Amount int }
)

func init() {
	actor.RegisterType[putIn]("example.put-in")
	actor.RegisterType[booked]("example.booked")
}

func newCart(id string, j persistence.Journal) actor.Behavior[put] {
	return behaviors.EventSourced(id, j, 0, func(n int, _ putIn) int { return n + 1 },
		func(_ *actor.Context[put], _ int, p put) persistence.Effect[putIn] {
			return persistence.Persist(putIn(p))
		})
}

func newLedger(id string, j persistence.Journal) actor.Behavior[int] {
	return behaviors.Singleton(func() actor.Behavior[int] {
		return behaviors.EventSourced(id, j, 0, func(sum int, b booked) int { return sum + b.Amount },
			func(_ *actor.Context[int], _, amount int) persistence.Effect[booked] {
				return persistence.Persist(booked{amount})
			})
	})
}

// In a program this opens a file or a database.
func openJournal(context.Context, string) (persistence.Journal, error) {
	return journal.NewMemory(), nil
}

// A program calls Serve first in main. It returns at once, unless the command understudy has
// started the program.
func Example() {
	rehearsal.Serve(openJournal,
		rehearsal.Of("cart", newCart),     // cart|1, cart|2, …: the entities of a type
		rehearsal.Of("ledger", newLedger), // one actor
	)
	fmt.Println("the program runs")
	// Output: the program runs
}
