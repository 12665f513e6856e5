package extension_test

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
)

// A Greeting is a message that can be stored and sent to other nodes.
type Greeting struct{ Name string }

func init() { actor.RegisterType[Greeting]("example.greeting") }

// A counter is the value that an extension keeps for a system.
type counter struct{ calls int }

// Ensure creates the value of an extension once for each system.
func ExampleEnsure() {
	system := actor.NewSystem("example")
	for range 2 {
		c := extension.Ensure(system, func() *counter { return &counter{} })
		c.calls++
		fmt.Println(c.calls)
	}
	fmt.Println(system.Shutdown(context.Background()))
	// Output:
	// 1
	// 2
	// <nil>
}

// A store keeps the type and the data of a message, and decodes the message from them.
func ExamplePack() {
	p, err := extension.Pack(Greeting{"Ada"})
	fmt.Println(p.Type, err)
	fmt.Println(extension.Unpack(nil, p))
	// Output:
	// example.greeting <nil>
	// {Ada} <nil>
}

// Deliver reports the outcome of a message.
func ExampleDeliver() {
	system := actor.NewSystem("example", actor.WithLogger(zap.NewNop()))
	picky := actor.Spawn(system, behaviors.Receive(func(ctx *actor.Context[Greeting], g Greeting) actor.Behavior[Greeting] {
		if g.Name == "" {
			return ctx.Fail(errors.New("a greeting without a name"))
		}
		return behaviors.Same
	}), "picky")
	outcomes := make(chan error, 1)
	for _, name := range []string{"Ada", ""} {
		extension.Deliver(picky, Greeting{name}, func(err error) { outcomes <- err })
		fmt.Println(<-outcomes)
	}
	fmt.Println(system.Shutdown(context.Background()))
	// Output:
	// <nil>
	// actor: failed at the message: a greeting without a name
	// <nil>
}
