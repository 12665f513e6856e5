package actor_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A barista asks the machine, and takes other orders until the machine has answered.
func ExampleAskToSelf() {
	type brew struct{ replyTo actor.ActorRef[string] }
	machine := behaviors.Receive(func(_ *actor.Context[brew], b brew) actor.Behavior[brew] {
		b.replyTo.Tell("espresso")
		return behaviors.Same
	})
	system := actor.NewSystem("example")
	m := actor.Spawn(system, machine, "machine")
	served := make(chan struct{})
	actor.Spawn(system, behaviors.Receive(func(ctx *actor.Context[string], line string) actor.Behavior[string] {
		fmt.Println(line)
		if line != "order" {
			close(served)
			return behaviors.Stopped
		}
		actor.AskToSelf(ctx, m, time.Minute,
			func(r actor.ActorRef[string]) brew { return brew{r} },
			func(coffee string, err error) string { return fmt.Sprint("served ", coffee, " ", err) })
		return behaviors.Same
	}), "barista").Tell("order")
	<-served
	fmt.Println(system.Shutdown(context.Background()))
	// Output:
	// order
	// served espresso <nil>
	// <nil>
}

// A Result is the reply to a request that may be refused.
func ExampleAskResult() {
	type withdraw struct {
		amount  int
		replyTo actor.ActorRef[actor.Result[int]]
	}
	account := behaviors.Receive(func(_ *actor.Context[withdraw], w withdraw) actor.Behavior[withdraw] {
		if w.amount > 100 {
			w.replyTo.Tell(actor.Result[int]{Err: errors.New("not so much")})
		} else {
			w.replyTo.Tell(actor.Result[int]{Value: 100 - w.amount})
		}
		return behaviors.Same
	})
	system := actor.NewSystem("example")
	ref := actor.Spawn(system, account, "account")
	for _, amount := range []int{30, 300} {
		fmt.Println(actor.AskResult(context.Background(), ref,
			func(r actor.ActorRef[actor.Result[int]]) withdraw { return withdraw{amount, r} }))
	}
	fmt.Println(system.Shutdown(context.Background()))
	// Output:
	// 70 <nil>
	// 0 not so much
	// <nil>
}

func ExampleActorRef_TellAfter() {
	system := actor.NewSystem("example")
	rang := make(chan struct{})
	alarm := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[string], line string) actor.Behavior[string] {
		fmt.Println(line)
		close(rang)
		return behaviors.Stopped
	}), "alarm")
	cancel := alarm.TellAfter(time.Hour, "too late")
	alarm.TellAfter(time.Millisecond, "get up")
	<-rang
	fmt.Println(cancel(), system.Shutdown(context.Background()))
	// Output:
	// get up
	// true <nil>
}

// A clock strikes on time, however long the actor takes to handle each tick.
func ExampleContext_AtFixedRate() {
	system := actor.NewSystem("example")
	clock := actor.Spawn(system, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
		ctx.AtFixedRate("clock", time.Millisecond, "tick")
		strikes := 0
		return behaviors.Receive(func(_ *actor.Context[string], sound string) actor.Behavior[string] {
			strikes++
			fmt.Println(sound, strikes)
			if strikes == 3 {
				return behaviors.Stopped
			}
			return behaviors.Same
		})
	}), "clock")
	watchUntilItEnds(system, clock)
	shutdown(system)
	// Output:
	// tick 1
	// tick 2
	// tick 3
}

// If an adapter cannot convert a message, the message is lost, and the actor gets a signal.
func ExampleAdaptFailed() {
	system := actor.NewSystem("example")
	doubling := behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
		words := actor.Adapt(ctx, func(word string) int {
			n, err := strconv.Atoi(word)
			if err != nil {
				panic(err)
			}
			return n
		})
		words.Tell("21")
		words.Tell("many")
		return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			fmt.Println(2 * n)
			return behaviors.Same
		}).OnSignal(func(_ *actor.Context[int], sig actor.Signal) actor.Behavior[int] {
			if failed, ok := sig.(actor.AdaptFailed); ok {
				fmt.Println("not a number:", failed.Message)
				return behaviors.Stopped
			}
			return behaviors.Same
		})
	})
	watchUntilItEnds(system, actor.Spawn(system, doubling, "doubling"))
	shutdown(system)
	// Output:
	// 42
	// not a number: many
}
