package actor_test

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
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
	}), "worker", urgentFirst)
	extension.Deliver(ref, 0, func(error) {})
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

// A full mailbox slows its senders down, here for at most a minute per message.
func ExampleMailbox_Block() {
	system := actor.NewSystem("example")
	ref := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
		fmt.Println(n)
		if n == 3 {
			return behaviors.Stopped
		}
		return behaviors.Same
	}), "printer", actor.Bounded(1).Block(time.Minute))
	for n := range 4 {
		ref.Tell(n)
	}
	watchUntilItEnds(system, ref)
	fmt.Println(system.DeadLetters(), "lost")
	shutdown(system)
	// Output:
	// 0
	// 1
	// 2
	// 3
	// 0 lost
}

// A full mailbox fails an ask at once.
func ExampleBounded() {
	system := actor.NewSystem("example")
	started, release := make(chan struct{}), make(chan struct{})
	ref := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[actor.ActorRef[int]], r actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
		close(started)
		<-release
		return behaviors.Stopped
	}), "busy", actor.Bounded(1))
	ref.Tell(actor.ActorRef[int]{})
	<-started
	ref.Tell(actor.ActorRef[int]{}) // there is room for one
	_, err := actor.Ask(context.Background(), ref, func(r actor.ActorRef[int]) actor.ActorRef[int] { return r })
	fmt.Println(err)
	close(release)
	shutdown(system)
	// Output: ask understudy://example/user/busy: actor: mailbox is full
}
