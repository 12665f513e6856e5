package persistence_test

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Expire is the message of a timer.
type Expire struct{}

func init() { actor.RegisterType[Expire]("example.expire/1") }

// An order that nobody pays expires. Its actor has ended by then, and the next one with the same id
// has its timer.
func ExampleSchedule() {
	type place struct{ ReplyTo actor.ActorRef[string] }
	expired := make(chan string, 1)
	store := journal.NewMemory()
	order := func() actor.Behavior[any] {
		return behaviors.EventSourced("order-17", store, "", func(_, event string) string { return event },
			func(ctx *actor.Context[any], state string, cmd any) persistence.Effect[string] {
				switch cmd := cmd.(type) {
				case place:
					effect := persistence.Persist("placed").Schedule("expire", time.Now().Add(50*time.Millisecond), Expire{})
					return persistence.ThenReply(effect, cmd.ReplyTo, "placed")
				case Expire:
					timer, _ := persistence.TimerOf(ctx)
					said := fmt.Sprintf("%s, and then timer %q came, attempt %d", state, timer.Key, timer.Attempt)
					return persistence.Persist("expired").Then(func() { expired <- said })
				}
				return persistence.Unhandled
			})
	}
	ctx := context.Background()
	system := actor.NewSystem("shop")
	ref := actor.Spawn(system, order(), "")
	fmt.Println(actor.Ask(ctx, ref, func(r actor.ActorRef[string]) any { return place{r} }))
	fmt.Println(system.Shutdown(ctx))

	again := actor.NewSystem("shop")
	actor.Spawn(again, order(), "")
	fmt.Println(<-expired)
	fmt.Println(again.Shutdown(ctx))
	// Output:
	// placed <nil>
	// <nil>
	// placed, and then timer "expire" came, attempt 1
	// <nil>
}
