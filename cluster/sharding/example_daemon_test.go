//go:build !quick

package sharding_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Which asks a daemon which part of the work it does.
type Which struct{ ReplyTo actor.ActorRef[string] }

func init() { actor.RegisterType[Which]("sharding-example.which") }

// Three workers that each do a third of the work, and later two that do a half.
func ExampleDaemon() {
	ctx := context.Background()
	system := actor.NewSystem("mail")
	defer func() { _ = system.Shutdown(ctx) }()

	senders, err := sharding.Daemon(system, "sender", 3, func(part sharding.Share) actor.Behavior[Which] {
		return behaviors.Receive(func(_ *actor.Context[Which], msg Which) actor.Behavior[Which] {
			msg.ReplyTo.Tell(fmt.Sprintf("part %d of %d", part.Index, part.Of))
			return nil
		})
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := func(index int) {
		got, err := actor.Ask(ctx, senders.Ref(index), func(r actor.ActorRef[string]) Which { return Which{ReplyTo: r} })
		fmt.Println(got, err)
	}
	ask(2)
	if err := senders.Scale(ctx, 2); err != nil {
		fmt.Println(err)
		return
	}
	ask(1)
	// Output:
	// part 2 of 3 <nil>
	// part 1 of 2 <nil>
}

// A Meter counts its readings, and runs until it is told that it is finished.
type Meter struct {
	Finished bool
	ReplyTo  actor.ActorRef[string]
}

func init() { actor.RegisterType[Meter]("sharding-example.meter") }

// The second system runs the meter that the first one had, although nobody sends it a message.
func ExampleRemember() {
	ctx := context.Background()
	store := journal.NewMemory()
	started := make(chan string, 10)
	factory := func(e sharding.Entity) actor.Behavior[Meter] {
		started <- e.ID
		return behaviors.Receive(func(_ *actor.Context[Meter], msg Meter) actor.Behavior[Meter] {
			if msg.Finished {
				e.Passivate() // it need not run any more
			}
			msg.ReplyTo.Tell("noted")
			return nil
		})
	}
	tell := func(r *sharding.Region[Meter], id string, finished bool) {
		got, err := actor.Ask(ctx, r.Ref(id), func(to actor.ActorRef[string]) Meter { return Meter{finished, to} })
		fmt.Println(id, got, err)
	}
	for n := range 2 {
		system := actor.NewSystem("grid", persistence.WithJournal(store))
		meters, err := sharding.Start(system, "meter", factory, sharding.Remember())
		if err != nil {
			fmt.Println(err)
			return
		}
		if n == 0 {
			tell(meters, "cellar", false)
			tell(meters, "roof", true)
			fmt.Println("first:", <-started, <-started)
		} else {
			fmt.Println("second:", <-started)
		}
		_ = system.Shutdown(ctx)
	}
	// Output:
	// cellar noted <nil>
	// roof noted <nil>
	// first: cellar roof
	// second: cellar
}
