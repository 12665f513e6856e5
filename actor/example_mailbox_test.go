package actor_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

func ExamplePrioritized() {
	system := actor.NewSystem("example")
	ready, done := make(chan struct{}), make(chan struct{})
	urgentFirst := actor.Prioritized(func(n int) int { return n })
	ref := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
		<-ready
		fmt.Println(n)
		if n == 3 {
			close(done)
		}
		return behaviors.Same
	}), "worker", actor.WithMailbox(urgentFirst))
	ref.Deliver(0, func(error) {})
	for n := 3; n > 0; n-- {
		ref.Tell(n)
	}
	close(ready)
	<-done
	_ = system.Shutdown(context.Background())
	// Output:
	// 0
	// 1
	// 2
	// 3
}
