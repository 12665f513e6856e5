// Command entities measures sharded entities, and writes its figures into a page:
//
//	go run ./internal/lab/entities [-entities 1000000] [-stored 100000] [-rate 1000] [-page docs/performance.md]
//
// It compares a tell to an entity with one to a plain actor, on the same node and on another one,
// and measures how much memory an idle entity takes. Then it wakes that many entities on three
// processes, asks them at a steady rate from a fourth one, kills one of the three with SIGKILL, and
// reports the latency of the asks by the second. It does the same with fewer entities that are
// event-sourced in SQLite. Without a page it prints the figures. The plots are beside the page.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// settings are the values of the flags.
type settings struct {
	entities, stored int // awake, without and with a journal
	rate             int // asks in a second
	operations       int // of each comparison
	before, after    time.Duration
	page             string
}

func main() {
	if beNode() {
		return
	}
	var s settings
	flag.IntVar(&s.entities, "entities", 1_000_000, "how many entities without a journal are awake; 0 leaves them out")
	flag.IntVar(&s.stored, "stored", 100_000, "how many event-sourced entities are awake; 0 leaves them out")
	flag.IntVar(&s.rate, "rate", 1000, "how many asks are sent in a second")
	flag.IntVar(&s.operations, "operations", 1_000_000, "how many tells are compared")
	flag.DurationVar(&s.before, "before", 10*time.Second, "how long asks are measured before the kill")
	flag.DurationVar(&s.after, "after", 20*time.Second, "how long asks are measured after the kill")
	flag.StringVar(&s.page, "page", "", "the page whose figures are replaced; \"\" prints them")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "entities:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	r := report{settings: s, began: time.Now()}
	var err error
	if r.costs, err = measureCosts(ctx, s.operations); err != nil {
		return err
	}
	for _, c := range []struct {
		entities int
		stored   bool
	}{{s.entities, false}, {s.stored, true}} {
		if c.entities == 0 {
			continue
		}
		k, err := measureKill(ctx, s, c.entities, c.stored)
		if err != nil {
			return err
		}
		r.kills = append(r.kills, k)
	}
	return r.write()
}
