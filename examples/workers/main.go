// Command workers hands jobs to a pool of workers on two nodes. Each job is acknowledged when a
// worker has done it; the jobs of a worker that ends go to the others.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
)

// A Thumbnail is a job: a picture to make smaller.
type Thumbnail struct{ Picture string }

func init() {
	actor.RegisterType[Thumbnail]("workers.thumbnail")
	delivery.RegisterType[Thumbnail]("workers.thumbnail")
}

// pool is the name under which producers find the workers of all nodes.
var pool = delivery.NewKey[Thumbnail]("thumbnails")

// worker does one job at a time, and confirms it when it is done.
func worker() actor.Behavior[delivery.Delivery[Thumbnail]] {
	return behaviors.Receive(func(_ *actor.Context[delivery.Delivery[Thumbnail]], job delivery.Delivery[Thumbnail]) actor.Behavior[delivery.Delivery[Thumbnail]] {
		job.Confirm()
		return behaviors.Same
	})
}

// failing is a worker that ends during its second job. It closes ended then.
func failing(ended chan<- struct{}) actor.Behavior[delivery.Delivery[Thumbnail]] {
	done := 0
	return behaviors.Receive(func(_ *actor.Context[delivery.Delivery[Thumbnail]], job delivery.Delivery[Thumbnail]) actor.Behavior[delivery.Delivery[Thumbnail]] {
		if done++; done == 2 {
			close(ended)
			return behaviors.Stopped
		}
		job.Confirm()
		return behaviors.Same
	})
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	front, err := cluster.Start(ctx, cluster.Config{Name: "pictures", NodeID: "front"})
	if err != nil {
		return err
	}
	defer front.Leave(ctx)
	back, err := cluster.Start(ctx, cluster.Config{Name: "pictures", NodeID: "back", Seeds: []string{front.View().Self.Address}})
	if err != nil {
		return err
	}
	defer back.Leave(ctx)

	ended := make(chan struct{})
	actor.Spawn(back, delivery.Serve(pool, failing(ended)), "worker-1")
	jobs := actor.Spawn(front, delivery.WorkPullingFor(pool), "jobs")

	const n = 100
	outcomes := make(chan error, n)
	for i := range n {
		go func() { outcomes <- shrink(ctx, jobs, fmt.Sprintf("%d.jpeg", i)) }()
	}
	<-ended
	fmt.Println("the only worker has ended during its second job")

	// The producer finds new workers, on any node, and gives them what is not confirmed.
	actor.Spawn(front, delivery.Serve(pool, worker()), "worker-2")
	actor.Spawn(back, delivery.Serve(pool, worker()), "worker-3")
	for range n {
		if err := <-outcomes; err != nil {
			return err
		}
	}
	fmt.Println(n, "jobs done, each acknowledged by a worker")
	return nil
}

// shrink returns when a worker has done the job, or the job was refused.
func shrink(ctx context.Context, jobs actor.ActorRef[delivery.Command[Thumbnail]], picture string) error {
	outcome, err := actor.Ask(ctx, jobs, func(confirmTo actor.ActorRef[delivery.Confirmed]) delivery.Command[Thumbnail] {
		return delivery.Send[Thumbnail]{Message: Thumbnail{Picture: picture}, ConfirmTo: confirmTo}
	})
	if err != nil {
		return err
	}
	return outcome.Reason
}
