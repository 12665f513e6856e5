package leases

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
)

// Visit asks for the number of visits, this one included.
type Visit struct{ ReplyTo actor.ActorRef[string] }

// visitors counts, and says under which generation.
func visitors() actor.Behavior[Visit] {
	visits := 0
	return behaviors.Receive(func(ctx *actor.Context[Visit], msg Visit) actor.Behavior[Visit] {
		visits++
		msg.ReplyTo.Tell(fmt.Sprintf("visit %d, generation %v", visits, singleton.GenerationOf(ctx)))
		return behaviors.Same
	})
}

// countVisits hosts the counter while it holds the lease in that bucket.
func countVisits(ctx context.Context, out io.Writer, urls string, config jetstream.LeasesConfig, owner string) error {
	nc, err := nats.Connect(urls, nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	defer nc.Close()
	store, err := jetstream.OpenLeases(ctx, nc, config)
	if err != nil {
		return err
	}
	l, err := lease.New(store, "visitors", owner, lease.Settings{TTL: 30 * time.Second})
	if err != nil {
		return err
	}

	system := actor.NewSystem(owner) // in a cluster: what cluster.Start returns
	defer system.Shutdown(ctx)       //nolint:errcheck // nothing is left to do about it

	ref := actor.Spawn(system, behaviors.Singleton(visitors, singleton.WithLease(l)), "visitors")
	for range 2 {
		answer, err := actor.Ask(ctx, ref, func(replyTo actor.ActorRef[string]) Visit { return Visit{replyTo} })
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
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config := jetstream.LeasesConfig{Bucket: "leases", Replicas: 3}
	if err := countVisits(ctx, os.Stdout, "nats://nats-1,nats://nats-2,nats://nats-3", config, os.Getenv("HOSTNAME")); err != nil {
		fmt.Println(err)
	}
}
