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

// Once a night, events of more than a year are deleted that the snapshots of their actors have.
func ExamplePrune() {
	type visit struct{ ReplyTo actor.ActorRef[int] }
	store, ctx := journal.NewMemory(), context.Background()
	system := actor.NewSystem("museum")
	for door := range 3 {
		visits := actor.Spawn(system, behaviors.EventSourced(fmt.Sprint("door-", door), store, 0, func(n int, _ string) int { return n + 1 },
			func(_ *actor.Context[visit], n int, cmd visit) persistence.Effect[string] {
				return persistence.ThenReply(persistence.Persist("visitor"), cmd.ReplyTo, n+1)
			}, persistence.SnapshotEvery(10, 1)), "")
		for range 15 {
			_, err := actor.Ask(ctx, visits, func(r actor.ActorRef[int]) visit { return visit{r} })
			if err != nil {
				fmt.Println(err)
			}
		}
	}
	if err := system.Shutdown(ctx); err != nil { // it waits for the snapshots
		fmt.Println(err)
	}

	tonight := time.Now().AddDate(1, 0, 1)
	done, err := persistence.Prune(ctx, store, tonight.AddDate(-1, 0, 0), persistence.Pruning{
		Progress: func(p persistence.Pruned) { fmt.Println(p.Events, "events so far") },
	})
	fmt.Println(done.Events, "events are deleted", err)
	// Output:
	// 30 events so far
	// 30 events are deleted <nil>
}
