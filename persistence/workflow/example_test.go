package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
)

// A Purchase is what somebody has ordered.
type Purchase struct {
	Item  string
	Total int
}

func init() { actor.RegisterType[Purchase]("example.purchase") }

// fulfil reserves an item, lets somebody approve expensive ones, and charges the card.
func fulfil(w *workflow.Run, p Purchase) (string, error) {
	shelf, err := workflow.Step(w, "reserve", func(context.Context) (string, error) {
		return "shelf 7", nil // asks the warehouse, with workflow.Key(ctx)
	})
	if err != nil {
		return "", err
	}
	w.Compensate("release", func(context.Context) error {
		fmt.Println("released", shelf)
		return nil
	})

	if p.Total > 10_000 {
		by, err := workflow.Await[string](w, "approval", 7*24*time.Hour)
		if err != nil {
			return "", err
		}
		fmt.Println("approved by", by)
	}

	err = workflow.Do(w, "charge", func(context.Context) error {
		if p.Item == "yacht" {
			return errors.New("the card is declined")
		}
		return nil
	}, workflow.Retry(3, actor.Backoff{Min: time.Millisecond}))
	return "from " + shelf, err
}

// A run outlives its process. Here it runs on one system; on a node it is the same.
func Example() {
	ctx := context.Background()
	system := actor.NewSystem("shop", persistence.WithJournal(journal.NewMemory()))
	purchases, err := workflow.Start(system, "purchase", fulfil)
	if err != nil {
		fmt.Println(err)
		return
	}

	tea, _ := purchases.Run(ctx, "1", Purchase{Item: "tea", Total: 5})
	fmt.Println(tea.Result(ctx))

	car, _ := purchases.Run(ctx, "2", Purchase{Item: "car", Total: 20_000})
	_ = workflow.Signal(ctx, purchases, "2", "approval", "ann")
	fmt.Println(car.Result(ctx))

	yacht, _ := purchases.Run(ctx, "3", Purchase{Item: "yacht", Total: 9_000})
	fmt.Println(yacht.Result(ctx))

	fmt.Println(system.Shutdown(ctx))
	// Output:
	// from shelf 7 <nil>
	// approved by ann
	// from shelf 7 <nil>
	// released shelf 7
	//  charge: the card is declined
	// <nil>
}

// A run that is cancelled is compensated.
func ExampleType_cancel() {
	ctx := context.Background()
	system := actor.NewSystem("shop", persistence.WithJournal(journal.NewMemory()))
	purchases, _ := workflow.Start(system, "purchase", fulfil)
	car, _ := purchases.Run(ctx, "2", Purchase{Item: "car", Total: 20_000})
	for st, err := purchases.Look(ctx, "2"); err == nil && st.State != workflow.Waiting; {
		st, err = purchases.Look(ctx, "2") // until it awaits the approval
	}
	_ = purchases.Cancel(ctx, "2", workflow.By{Who: "ben", Why: "he takes the bus"})
	_, err := car.Result(ctx)
	fmt.Println(err)
	fmt.Println(system.Shutdown(ctx))
	// Output:
	// released shelf 7
	// workflow: the run was cancelled by ben: he takes the bus
	// <nil>
}

// Parts of a run take place at the same time.
func ExampleBranch() {
	ctx := context.Background()
	system := actor.NewSystem("shop", persistence.WithJournal(journal.NewMemory()))
	totals, _ := workflow.Start(system, "total", func(w *workflow.Run, prices []int) (int, error) {
		taxed := make([]int, len(prices))
		parts := make([]workflow.Part, len(prices))
		for i, price := range prices {
			parts[i] = func(w *workflow.Run) (err error) {
				taxed[i], err = workflow.Step(w, "tax", func(context.Context) (int, error) { return price * 2, nil })
				return err
			}
		}
		err := workflow.Branch(w, "taxes", parts...)
		sum := 0
		for _, one := range taxed {
			sum += one
		}
		return sum, err
	})
	total, _ := totals.Run(ctx, "1", []int{1, 2, 3})
	fmt.Println(total.Result(ctx))
	fmt.Println(system.Shutdown(ctx))
	// Output:
	// 12 <nil>
	// <nil>
}

// A mail server tells of a mail more than once, and does not know whether the run has begun.
func ExampleSignalKey() {
	ctx := context.Background()
	system := actor.NewSystem("desk", persistence.WithJournal(journal.NewMemory()))
	tickets, _ := workflow.Start(system, "ticket", func(w *workflow.Run, mails int) (all []string, err error) {
		for len(all) < mails && err == nil {
			var mail string
			mail, err = workflow.Await[string](w, "mail", 24*time.Hour)
			all = append(all, mail)
		}
		return all, err
	})
	ticket, _ := tickets.Run(ctx, "1", 2)
	for _, mail := range []struct{ id, text string }{{"a@x", "it is broken"}, {"a@x", "it is broken"}, {"b@x", "it works again"}} {
		_ = workflow.Signal(ctx, tickets, "1", "mail", mail.text, workflow.SignalKey(mail.id))
	}
	fmt.Println(ticket.Result(ctx))
	fmt.Println(system.Shutdown(ctx))
	// Output:
	// [it is broken it works again] <nil>
	// <nil>
}

// What the journal has is listed, also of runs that are not in memory.
func ExampleType_all() {
	ctx := context.Background()
	system := actor.NewSystem("shop", persistence.WithJournal(journal.NewMemory()))
	purchases, _ := workflow.Start(system, "purchase", fulfil)
	tea, _ := purchases.Run(ctx, "1", Purchase{Item: "tea", Total: 5}, workflow.Tag("north"))
	_, _ = tea.Result(ctx)
	_, _ = purchases.Run(ctx, "2", Purchase{Item: "car", Total: 20_000})

	all, err := purchases.All(ctx)
	for _, run := range all {
		fmt.Println(run.ID, run.Tag, run.State, run.Ended.IsZero())
	}
	fmt.Println(err, system.Shutdown(ctx))
	// Output:
	// 1 north done false
	// 2  running true
	// <nil> <nil>
}
