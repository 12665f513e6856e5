//go:build !quick

package sharding_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/eventsourced"
)

// A unit test of an entity needs no region: the factory is called with an Entity of the test's own.
// Here factory is account, the behavior of accounts.
func ExampleEntity_testing() {
	example(func(t testing.TB) { // in a test of your own, use its t
		k := eventsourced.Of[Deposited, int](t, testkit.NewSystem(t), func(j persistence.Journal) actor.Behavior[Deposit] {
			return account(sharding.Entity{Type: "account", ID: "42"}, j)
		})
		balance, outcome := eventsourced.Ask(k, func(r actor.ActorRef[int]) Deposit { return Deposit{Amount: 10, ReplyTo: r} })
		fmt.Println(balance, outcome.Events, k.Restart())
	})
	// Output: 10 [{10}] 10
}

// A unit test of a region starts the type on the system of the test. In a bubble of
// testing/synctest, time is virtual, so entities passivate at once.
func ExampleStart_testing() {
	example(func(t testing.TB) {
		store := journal.NewMemory()
		accounts, err := sharding.Start(testkit.NewSystem(t), "account", func(e sharding.Entity) actor.Behavior[Deposit] {
			return account(e, store)
		}, sharding.PassivateAfter(time.Minute))
		if err != nil {
			t.Fatalf("%v", err)
		}
		for range 2 {
			fmt.Println(testkit.Ask(t.Context(), t, accounts.Ref("42"), func(r actor.ActorRef[int]) Deposit { return Deposit{Amount: 10, ReplyTo: r} }))
		}
		fmt.Println(accounts.Stats().Awake, "awake")
	})
	// Output:
	// 10
	// 20
	// 1 awake
}
