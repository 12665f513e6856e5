//go:build !quick

package sharding_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/singleton"
)

// spread lets the singletons with the numbers from 0 on run on different nodes.
func spread(i int) singleton.Option {
	return singleton.OnElected(fmt.Sprint("spread-", i), func(all []singleton.Candidate) (host string, ok bool) {
		if len(all) == 0 {
			return "", false
		}
		return all[i%len(all)].Name, true
	})
}

// account returns an account in a journal.
func account(e sharding.Entity, j persistence.Journal) actor.Behavior[Deposit] {
	return behaviors.EventSourced(e.PersistenceID(), j, 0,
		func(balance int, d Deposited) int { return balance + d.Amount },
		func(_ *actor.Context[Deposit], balance int, d Deposit) persistence.Effect[Deposited] {
			return persistence.Persist(Deposited{d.Amount}).Then(func() { d.ReplyTo.Tell(balance + d.Amount) })
		})
}

// Four projections add up the deposits of all accounts. Each follows a quarter of the slices, which
// is a quarter of the shards, and runs on one node of the cluster.
func Example_projection() {
	ctx := context.Background()
	store := journal.NewMemory()
	system := actor.NewSystem("bank") // or a node of a cluster
	defer func() { _ = system.Shutdown(ctx) }()
	accounts, err := sharding.Start(system, "account", func(e sharding.Entity) actor.Behavior[Deposit] {
		return account(e, store)
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	var total atomic.Int64
	var offsets projection.MemoryOffsets
	var projections []actor.ActorRef[projection.Command]
	for i, slices := range journal.Split(4) {
		p := projection.New(fmt.Sprint("deposits-", i), store, journal.Query{Slices: slices},
			projection.AtLeastOnce(&offsets, func(_ context.Context, e projection.Event[Deposited]) error {
				_, number, _ := sharding.ParsePersistenceID(e.ID)
				_ = number // of the account, for a table by account
				total.Add(int64(e.Event.Amount))
				return nil
			}), projection.OfIDs(sharding.OfType("account")))
		projections = append(projections, actor.Spawn(system, behaviors.Singleton(p.Behavior, spread(i)), p.Name()))
	}

	for number := range 20 {
		if _, err := actor.Ask(ctx, accounts.Ref(fmt.Sprint(number)), func(r actor.ActorRef[int]) Deposit { return Deposit{Amount: 10, ReplyTo: r} }); err != nil {
			fmt.Println(err)
		}
	}
	for _, p := range projections {
		if _, err := actor.Ask(ctx, p, func(r actor.ActorRef[projection.Status]) projection.Command { return projection.CatchUp{ReplyTo: r} }); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(total.Load())
	// Output: 200
}
