package postgres_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
)

// Request asks for the number of visits, this one included.
type Request struct{ ReplyTo actor.ActorRef[string] }

func leasedVisitors() actor.Behavior[Request] {
	visits := 0
	return behaviors.Receive(func(ctx *actor.Context[Request], msg Request) actor.Behavior[Request] {
		visits++
		msg.ReplyTo.Tell(fmt.Sprintf("visit %d, generation %v", visits, singleton.GenerationOf(ctx)))
		return behaviors.Same
	})
}

// countVisitsOnLease hosts the counter while it holds the lease in that database.
func countVisitsOnLease(ctx context.Context, out io.Writer, url, owner string) error {
	store, err := postgres.OpenLeases(url) //nolint:contextcheck // its connections outlive what opens it
	if err != nil {
		return err
	}
	defer store.Close()
	if err = store.Migrate(ctx); err != nil {
		return err
	}
	l, err := lease.New(store, "visitors", owner, lease.Settings{TTL: 15 * time.Second})
	if err != nil {
		return err
	}

	system := actor.NewSystem(owner) // in a cluster: what cluster.Start returns
	defer system.Shutdown(ctx)       //nolint:errcheck // nothing is left to do about it

	ref := actor.Spawn(system, behaviors.Singleton(leasedVisitors, singleton.WithLease(l)), "visitors")
	for range 2 {
		answer, err := actor.Ask(ctx, ref, func(replyTo actor.ActorRef[string]) Request { return Request{replyTo} })
		if err != nil {
			return err
		}
		if _, err = fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return nil
}

// A singleton that runs only where the lease is held. What it counts begins anew wherever
// it moves, and its generation has the token of the lease.
func ExampleLeases() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := countVisitsOnLease(ctx, os.Stdout, os.Getenv("DATABASE_URL"), os.Getenv("HOSTNAME")); err != nil {
		fmt.Println(err)
	}
}
