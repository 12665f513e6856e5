package cron_test

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// An entry that is not due for long is triggered by hand.
func ExampleStart() {
	s := actor.NewSystem("office", persistence.WithJournal(journal.NewMemory()))
	done := make(chan string)
	schedule, err := cron.Start(s, cron.Config{
		Jobs: map[string]cron.Job{
			"invoices": cron.Func(func(_ context.Context, run cron.Run) error {
				done <- fmt.Sprintf("invoices of %s, attempt %d", run.Args, run.Attempt)
				return nil
			}),
		},
		Entries: []cron.Entry{
			{Name: "invoices", Args: "Berlin", Spec: "30 6 1 1 *", Zone: "Europe/Berlin", Missed: cron.Once},
		},
	})
	if err != nil {
		panic(err)
	}
	if _, err := schedule.Trigger(context.Background(), "invoices"); err != nil {
		panic(err)
	}
	fmt.Println(<-done)
	entry, err := schedule.Entry(context.Background(), "invoices")
	if err != nil {
		panic(err)
	}
	fmt.Println("next on", entry.Next.In(time.UTC).Format("January 2, 15:04 MST"))
	if err := s.Shutdown(context.Background()); err != nil {
		panic(err)
	}
	// Output:
	// invoices of Berlin, attempt 1
	// next on January 1, 05:30 UTC
}
