// Command nightly closes the books of a shop every night, once in the whole cluster.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// start starts the schedule. Each node of a cluster calls it; one node at a time runs the jobs.
func start(node cron.Host, closeBooks func(ctx context.Context, run cron.Run) error) (*cron.Schedule, error) {
	return cron.Start(node, cron.Config{
		Jobs: map[string]cron.Job{"close-books": cron.Func(closeBooks)},
		Entries: []cron.Entry{{
			Name: "close-books",
			Spec: "30 23 * * MON-FRI", Zone: "Europe/Berlin",
			Missed: cron.Once, // after an outage, close the books once
		}},
	})
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// run starts the schedule, and does not wait for the night: it triggers the job by hand.
func run(ctx context.Context) error {
	system := actor.NewSystem("shop", persistence.WithJournal(journal.NewMemory()))
	closed := make(chan cron.Run, 1)
	schedule, err := start(system, func(_ context.Context, run cron.Run) error {
		closed <- run
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := schedule.Trigger(ctx, "close-books"); err != nil {
		return err
	}
	run := <-closed
	fmt.Printf("the books are closed: %s, attempt %d\n", run.Entry, run.Attempt)

	entry, err := schedule.Entry(ctx, "close-books")
	if err != nil {
		return err
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		return err
	}
	fmt.Println("the next time is at", entry.Next.In(berlin).Format("15:04"))
	return system.Shutdown(ctx)
}
