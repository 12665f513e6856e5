package etcd_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/etcd"
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

// countVisits hosts the counter while it holds the lease in that etcd.
func countVisits(ctx context.Context, out io.Writer, endpoints []string, owner string) error {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, DialKeepAliveTime: 5 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	store, err := etcd.New(client)
	if err != nil {
		return err
	}
	l, err := lease.New(store, "visitors", owner, lease.Settings{TTL: 15 * time.Second})
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
	endpoints := []string{"https://etcd-1:2379", "https://etcd-2:2379", "https://etcd-3:2379"}
	if err := countVisits(ctx, os.Stdout, endpoints, os.Getenv("HOSTNAME")); err != nil {
		fmt.Println(err)
	}
}
