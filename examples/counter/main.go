// Command counter is the counter of the Akka documentation: a supervised singleton among
// the nodes of a role, with a stop message.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

type Command interface{ command() }

type (
	Increment      struct{}
	GetValue       struct{ ReplyTo actor.ActorRef[int] }
	GoodByeCounter struct{}
)

func (Increment) command()      {}
func (GetValue) command()       {}
func (GoodByeCounter) command() {}

func Counter() actor.Behavior[Command] { return updated(0) }

func updated(value int) actor.Behavior[Command] {
	return behaviors.Receive(func(_ *actor.Context[Command], cmd Command) actor.Behavior[Command] {
		switch cmd := cmd.(type) {
		case Increment:
			return updated(value + 1)
		case GetValue:
			cmd.ReplyTo.Tell(value)
			return behaviors.Same
		case GoodByeCounter:
			return behaviors.Stopped // close resources first
		}
		return behaviors.Unhandled
	})
}

func supervised() actor.Behavior[Command] {
	return behaviors.Supervise(Counter(), actor.Strategy{
		Backoff: actor.Backoff{Min: time.Second, Max: 10 * time.Second, Jitter: 0.2},
	})
}

func main() {
	ctx := context.Background()
	node, err := cluster.Start(ctx, cluster.Config{Name: "counter", NodeID: "node-1", Bind: "127.0.0.1:0", Roles: []string{"backend"}})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Leave(ctx)

	proxy := actor.Spawn(node, behaviors.Singleton(supervised,
		singleton.Role("backend"),
		singleton.StopMessage(GoodByeCounter{}),
	), "GlobalCounter")

	proxy.Tell(Increment{})
	value, err := actor.Ask(ctx, proxy, func(r actor.ActorRef[int]) Command { return GetValue{r} })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(value) // 1
}
