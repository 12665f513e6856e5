package topic_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A published message reaches all subscribers, on this node and on others.
func Example() {
	system := actor.NewSystem("example")
	defer func() { _ = system.Shutdown(context.Background()) }()
	news := topic.New[string]("news")

	heard := make(chan string)
	reader := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[string], text string) actor.Behavior[string] {
		heard <- text
		return behaviors.Same
	}), "reader")
	news.Subscribe(system, reader)

	news.Publish(system, "it rains")
	news.Publish(system, "it has stopped")
	fmt.Println(<-heard)
	fmt.Println(<-heard)
	// Output:
	// it rains
	// it has stopped
}

func ExampleTopic_Stats() {
	system := actor.NewSystem("example")
	defer func() { _ = system.Shutdown(context.Background()) }()
	news := topic.New[string]("news")
	news.Subscribe(system, actor.Spawn(system, behaviors.Ignore[string], "reader"))
	fmt.Printf("%+v\n", news.Stats(system))
	// Output: {Subscribers:1 Nodes:1}
}
