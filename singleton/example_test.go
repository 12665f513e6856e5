package singleton_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
)

// Visit asks a visitor counter for the number of visits, this one included.
type Visit struct{ ReplyTo actor.ActorRef[string] }

// visitors counts visits, and says under which generation.
func visitors() actor.Behavior[Visit] {
	visits := 0
	return behaviors.Receive(func(ctx *actor.Context[Visit], msg Visit) actor.Behavior[Visit] {
		visits++
		msg.ReplyTo.Tell(fmt.Sprintf("visit %d, generation %v", visits, singleton.GenerationOf(ctx)))
		return behaviors.Same
	})
}

func visit(ref actor.ActorRef[Visit]) string {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	answer, err := actor.Ask(ctx, ref, func(replyTo actor.ActorRef[string]) Visit { return Visit{replyTo} })
	if err != nil {
		return err.Error()
	}
	return answer
}

// Without a cluster the instance runs where it is spawned.
func ExampleNew() {
	system := actor.NewSystem("example")
	defer system.Shutdown(context.Background()) //nolint:errcheck // nothing is left to do about it

	ref := actor.Spawn(system, singleton.New(visitors, singleton.Buffer(100)), "visitors")
	fmt.Println(visit(ref))
	fmt.Println(visit(ref))
	// Output:
	// visit 1, generation 1.1
	// visit 2, generation 1.1
}

// Write asks a writer to put text into the store, and to say whether it was taken.
type Write struct {
	Text    string
	ReplyTo actor.ActorRef[bool]
}

// A fencedStore refuses an instance once it has seen a later one.
type fencedStore struct {
	highest singleton.Generation
	text    string
}

func (s *fencedStore) put(g singleton.Generation, text string) bool {
	if g.Less(s.highest) {
		return false
	}
	s.highest, s.text = g, text
	return true
}

// The instance sends its generation with everything that it writes to the outside. The receiver
// refuses generations that are out of date.
func ExampleGenerationOf() {
	var store fencedStore
	writer := func() actor.Behavior[Write] {
		return behaviors.Receive(func(ctx *actor.Context[Write], msg Write) actor.Behavior[Write] {
			msg.ReplyTo.Tell(store.put(singleton.GenerationOf(ctx), msg.Text))
			return behaviors.Same
		})
	}
	system := actor.NewSystem("example")
	defer system.Shutdown(context.Background()) //nolint:errcheck // nothing is left to do about it
	ref := actor.Spawn(system, behaviors.Singleton(writer), "writer")
	write := func(text string) (bool, error) {
		return actor.Ask(context.Background(), ref, func(replyTo actor.ActorRef[bool]) Write { return Write{text, replyTo} })
	}

	fmt.Println(write("by the host"))
	store.put(singleton.Generation{Term: 2, Seq: 1}, "by its successor, on another node")
	fmt.Println(write("by a host that has not heard of it"))
	fmt.Println(store.text)
	// Output:
	// true <nil>
	// false <nil>
	// by its successor, on another node
}

// The status says where the instance runs, or why no instance runs.
func ExampleStatusOf() {
	system := actor.NewSystem("example")
	defer system.Shutdown(context.Background()) //nolint:errcheck // nothing is left to do about it

	ref := actor.Spawn(system, behaviors.Singleton(visitors), "visitors")
	visit(ref)
	status, ok := singleton.StatusOf(system, "visitors")
	fmt.Println(ok, status.Phase, status.Here, status.Generation)
	// Output: true host true 1.1
}

// Order is one of many, and some cannot be handled.
type Order struct{ Pieces int }

// A message at which three instances fail is put aside. It is sent again once the bug is mended.
func ExampleResend() {
	system := actor.NewSystem("example", actor.WithLogger(zap.NewNop()))
	defer system.Shutdown(context.Background()) //nolint:errcheck // nothing is left to do about it

	var mended atomic.Bool
	handled := make(chan Order)
	orders := func() actor.Behavior[Order] {
		return behaviors.Receive(func(_ *actor.Context[Order], order Order) actor.Behavior[Order] {
			if order.Pieces == 0 && !mended.Load() {
				panic("an order of nothing")
			}
			handled <- order
			return behaviors.Same
		})
	}
	ref := actor.Spawn(system, behaviors.Singleton(orders, singleton.AtLeastOnce(10)), "orders")
	ref.Tell(Order{Pieces: 0})
	ref.Tell(Order{Pieces: 3})
	fmt.Println(<-handled, "did not have to wait for long")

	for _, m := range singleton.ListGivenUp(system) {
		fmt.Println(m.Singleton, m.Message, m.Reason)
		mended.Store(true)
		if err := singleton.Resend(system, m.Number); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(<-handled, "is handled now")
	// Output:
	// {3} did not have to wait for long
	// orders {0} singleton: message given up, as instances have failed at it: panic: an order of nothing
	// {0} is handled now
}
