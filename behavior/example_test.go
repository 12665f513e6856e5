package behaviors_test

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A Door is a message to a door: to open, to close, or to report its state.
type Door interface{ door() }

// The messages of a door.
type (
	Open  struct{}
	Close struct{}
	State struct{ ReplyTo actor.ActorRef[string] }
)

func (Open) door()  {}
func (Close) door() {}
func (State) door() {}

// Each state of a state machine is a function that returns a behavior. The data of the state are
// variables of its closure.
func closed(timesOpened int) actor.Behavior[Door] {
	return behaviors.Receive(func(_ *actor.Context[Door], msg Door) actor.Behavior[Door] {
		switch msg := msg.(type) {
		case Open:
			return opened(timesOpened + 1)
		case State:
			msg.ReplyTo.Tell(fmt.Sprintf("closed, opened %d times", timesOpened))
			return behaviors.Same
		}
		return behaviors.Unhandled
	})
}

func opened(timesOpened int) actor.Behavior[Door] {
	return behaviors.Receive(func(_ *actor.Context[Door], msg Door) actor.Behavior[Door] {
		switch msg := msg.(type) {
		case Close:
			return closed(timesOpened)
		case State:
			msg.ReplyTo.Tell("open")
			return behaviors.Same
		}
		return behaviors.Unhandled
	})
}

func ExampleReceive() {
	system := actor.NewSystem("example")
	defer shutdown(system)
	door := actor.Spawn(system, closed(0), "door")
	for range 3 {
		door.Tell(Open{})
		door.Tell(Close{})
	}
	fmt.Println(actor.Ask(context.Background(), door, func(r actor.ActorRef[string]) Door { return State{r} }))
	// Output: closed, opened 3 times <nil>
}

// An account is an actor whose state is a struct, made in a Setup. Its handler is a method.
type account struct {
	balance int
	log     func(string)
}

// The message of an account.
type deposit struct {
	amount  int
	replyTo actor.ActorRef[int]
}

func newAccount() actor.Behavior[deposit] {
	return behaviors.Setup(func(ctx *actor.Context[deposit]) actor.Behavior[deposit] {
		a := &account{log: func(what string) { fmt.Println(ctx.Self().Path(), what) }}
		a.log("is open")
		return behaviors.Receive(a.onDeposit).OnSignal(a.onSignal)
	})
}

func (a *account) onDeposit(_ *actor.Context[deposit], msg deposit) actor.Behavior[deposit] {
	a.balance += msg.amount
	msg.replyTo.Tell(a.balance)
	return behaviors.Same
}

func (a *account) onSignal(_ *actor.Context[deposit], sig actor.Signal) actor.Behavior[deposit] {
	if _, stopping := sig.(actor.PostStop); stopping {
		a.log(fmt.Sprintf("is closed with %d", a.balance))
	}
	return behaviors.Same
}

func ExampleSetup() {
	system := actor.NewSystem("example")
	savings := actor.Spawn(system, newAccount(), "savings")
	for _, amount := range []int{10, 32} {
		fmt.Println(actor.Ask(context.Background(), savings, func(r actor.ActorRef[int]) deposit { return deposit{amount, r} }))
	}
	fmt.Println(system.Shutdown(context.Background()))
	// Output:
	// understudy://example/user/savings is open
	// 10 <nil>
	// 42 <nil>
	// understudy://example/user/savings is closed with 42
	// <nil>
}

// A restart begins again with the supervised behavior. The message that failed is lost; later
// messages are handled.
func ExampleSupervise() {
	type divide struct {
		by      int
		replyTo actor.ActorRef[string]
	}
	quotient := func() actor.Behavior[divide] {
		return behaviors.Setup(func(*actor.Context[divide]) actor.Behavior[divide] {
			n := 100
			return behaviors.Receive(func(_ *actor.Context[divide], msg divide) actor.Behavior[divide] {
				n /= msg.by
				msg.replyTo.Tell(fmt.Sprint("it is ", n))
				return behaviors.Same
			})
		})
	}
	system := actor.NewSystem("example")
	defer shutdown(system)
	ref := actor.Spawn(system, behaviors.Supervise(quotient(), actor.Strategy{
		Limit: 3, Window: time.Minute,
		Backoff: actor.Backoff{Min: time.Millisecond, Max: time.Second, Jitter: 0.2},
	}), "divider")

	ask := func(by int) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		fmt.Println(actor.Ask(ctx, ref, func(r actor.ActorRef[string]) divide { return divide{by, r} }))
	}
	ask(5)
	ref.Tell(divide{by: 0}) // fails
	ask(4)
	// Output:
	// it is 20 <nil>
	// it is 25 <nil>
}

// Ignore, Empty and Stopped are behaviors of any message type, without a type argument.
func ExampleIgnore() {
	system := actor.NewSystem("example")
	defer shutdown(system)
	actor.Spawn(system, behaviors.Ignore[int], "sink").Tell(1)
	fmt.Println(system.DeadLetters())
	// Output: 0
}

// shutdown ends a system that nothing keeps from ending.
func shutdown(system *actor.System) {
	if err := system.Shutdown(context.Background()); err != nil {
		panic(err)
	}
}
