package persistence_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A closed door lets one visitor in for each ring, in order of arrival. The bell is answered at
// once, and nothing is stored for it.
func ExampleUnstash() {
	type msg struct {
		Visitor string
		Ring    actor.ActorRef[string]
	}
	ctx := context.Background()
	rung := 0
	door := behaviors.EventSourced("door", journal.NewMemory(), []string(nil),
		func(inside []string, visitor string) []string {
			return append(slices.Clip(inside), visitor)
		},
		func(_ *actor.Context[msg], inside []string, m msg) persistence.Effect[string] {
			if m.Visitor == "" {
				rung++
				return persistence.Reply[string](m.Ring, fmt.Sprint("inside: ", inside)).ThenUnstash(1)
			}
			if rung == 0 {
				return persistence.Stash
			}
			rung--
			return persistence.Persist(m.Visitor)
		})
	system := actor.NewSystem("house")
	ref := actor.Spawn(system, door, "door")
	for _, visitor := range []string{"Ada", "Grace", "Barbara"} {
		ref.Tell(msg{Visitor: visitor})
	}
	for range 3 {
		fmt.Println(actor.Ask(ctx, ref, func(r actor.ActorRef[string]) msg { return msg{Ring: r} }))
	}
	fmt.Println(system.Shutdown(ctx))
	// Output:
	// inside: [] <nil>
	// inside: [Ada] <nil>
	// inside: [Ada Grace] <nil>
	// <nil>
}

// The state is saved whenever an account is empty, and the earlier events are deleted. Events that
// make an account rich are tagged, so that a query can find them.
func ExampleOptions_snapshots() {
	ctx := context.Background()
	system := actor.NewSystem("bank")
	store := journal.NewMemory()
	account := actor.Spawn(system, behaviors.EventSourced("account-1", store, 0, book, decide,
		persistence.Options[accountMsg, accountEvent, int]{
			SnapshotWhen:  func(balance int, _ accountEvent, _ uint64) bool { return balance == 0 },
			KeepSnapshots: 1,
			DeleteEvents:  true,
			Tags: func(balance int, _ accountEvent) []string {
				if balance > 1000 {
					return []string{"rich"}
				}
				return nil
			},
		}), "account-1")
	account.Tell(deposit{Amount: 60})
	fmt.Println(actor.Ask(ctx, account, func(r actor.ActorRef[string]) accountMsg { return withdraw{60, r} }))
	account.Tell(deposit{Amount: 2000})
	fmt.Println(actor.Ask(ctx, account, func(r actor.ActorRef[string]) accountMsg { return withdraw{1500, r} }))
	fmt.Println(system.Shutdown(ctx))

	fmt.Println(store.Snapshots(ctx, "account-1"))
	for record, err := range store.Read(ctx, "account-1", 1, 100) {
		fmt.Println(record.Seq, record.Type, record.Tags, err)
	}
	// Output:
	// here you are <nil>
	// here you are <nil>
	// <nil>
	// [2] <nil>
	// 3 account.deposited [rich] <nil>
	// 4 account.withdrawn [] <nil>
}

// All settings with their defaults, and snapshots after every hundredth event.
func ExampleOptions() {
	ctx := context.Background()
	system := actor.NewSystem("bank")
	account := actor.Spawn(system, behaviors.EventSourced("account-1", journal.NewMemory(), 0, book, decide,
		persistence.Options[accountMsg, accountEvent, int]{
			SnapshotEvery:    100,
			KeepSnapshots:    2,
			OnPersistFailure: actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second, Jitter: 0.2},
			PersistTimeout:   30 * time.Second,
			RecoveryTimeout:  30 * time.Second,
			StashCapacity:    4096,
		}), "account-1")
	account.Tell(deposit{Amount: 60})
	fmt.Println(actor.Ask(ctx, account, func(r actor.ActorRef[string]) accountMsg { return withdraw{60, r} }))
	fmt.Println(system.Shutdown(ctx))
	// Output:
	// here you are <nil>
	// <nil>
}
