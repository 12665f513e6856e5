// Shop is a program for the tests of a rehearsal. The name of its file says which build of the
// program it is: shop-base, or one with a change.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/rehearsal"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/singleton"
)

// A build is one version of the program: what it registers, and what handles the stored events.
type build struct {
	register func()
	carts    func(id string, j persistence.Journal) actor.Behavior[command]
	settings func(id string, j persistence.Journal) actor.Behavior[command]
	shards   int
	options  []singleton.Option // of the settings, which are a singleton
	schedule []singleton.Option // of the schedule
	parts    []rehearsal.Part   // in place of all three
}

// A command stores an event, or is one to the settings. Its sender learns when it is stored.
type command struct {
	event any
	done  actor.ActorRef[bool]
}

func open(_ context.Context, location string) (persistence.Journal, error) {
	return sqlite.Open(location) //nolint:contextcheck // it takes no context
}

func main() {
	name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), "shop-")
	b, ok := builds()[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "there is no build", name)
		os.Exit(2)
	}
	b.register()
	parts := b.parts
	if parts == nil {
		parts = []rehearsal.Part{
			rehearsal.Of("cart", b.carts).With(sharding.Compared(sharding.Shards(b.shards))),
			rehearsal.Of("settings", func(id string, j persistence.Journal) actor.Behavior[command] {
				return behaviors.Singleton(func() actor.Behavior[command] { return b.settings(id, j) }, b.options...)
			}),
			rehearsal.Settings("nightly", cron.Compared(cron.Config{
				Jobs: map[string]cron.Job{"sweep": cron.Func(func(context.Context, cron.Run) error { return nil })}, Options: b.schedule,
			})),
		}
	}
	fmt.Println("what a program prints is not an answer")
	rehearsal.Serve(open, parts...)
	do := func() error { return write(b, os.Args[1]) }
	if len(os.Args) > 2 {
		do = func() error { return writeMany(os.Args[1], os.Args[2]) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write stores some events, as a program that runs.
func write(b build, file string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	system := actor.NewSystem("shop", actor.WithLogger(zap.NewNop()))
	for id, events := range shopping() {
		behavior := b.carts
		if id == "settings" {
			behavior = b.settings
		}
		ref := actor.Spawn(system, behavior(id, j), "")
		for _, e := range events {
			if _, err := actor.Ask(ctx, ref, func(done actor.ActorRef[bool]) command { return command{e, done} }); err != nil {
				return err
			}
		}
	}
	if err := system.Shutdown(ctx); err != nil {
		return err
	}
	return j.Close()
}
