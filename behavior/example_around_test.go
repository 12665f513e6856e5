package behaviors_test

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// speaker prints its messages, and ends at "bye".
func speaker() actor.Behavior[string] {
	return behaviors.Receive(func(_ *actor.Context[string], line string) actor.Behavior[string] {
		fmt.Println(line)
		if line == "bye" {
			return behaviors.Stopped
		}
		return behaviors.Same
	})
}

// An interceptor can drop messages, and change those that it passes on.
func ExampleIntercept() {
	polite := &behaviors.Interceptor[string]{
		Message: func(ctx *actor.Context[string], line string, inner actor.MessageHandler[string]) actor.Behavior[string] {
			if line == "!#?" {
				return behaviors.Unhandled
			}
			return inner(ctx, line)
		},
	}
	system := actor.NewSystem("example")
	ref := actor.Spawn(system, behaviors.Intercept(polite, speaker()), "speaker")
	for _, line := range []string{"hello", "!#?", "bye"} {
		ref.Tell(line)
	}
	finish(system, ref)
	// Output:
	// hello
	// bye
}

func ExampleMonitor() {
	system := actor.NewSystem("example")
	copies := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[string], line string) actor.Behavior[string] {
		fmt.Println("copy of", line)
		if line == "bye" {
			return behaviors.Stopped
		}
		return behaviors.Same
	}), "copies")
	ref := actor.Spawn(system, behaviors.Monitor(copies, behaviors.Ignore[string]), "deaf")
	ref.Tell("hello")
	ref.Tell("bye")
	finish(system, copies)
	// Output:
	// copy of hello
	// copy of bye
}

func ExampleLogMessages() {
	system := actor.NewSystem("example", actor.WithLogger(zap.NewExample()))
	ref := actor.Spawn(system, behaviors.LogMessages(zap.DebugLevel, speaker()), "speaker")
	ref.Tell("bye")
	finish(system, ref)
	// Output:
	// {"level":"debug","msg":"message","actor":"/user/speaker","kind":"string","type":"string","value":"bye"}
	// bye
	// {"level":"debug","msg":"signal","actor":"/user/speaker","kind":"string","type":"actor.PostStop","value":"{}"}
}

func ExampleSpy() {
	system := actor.NewSystem("example")
	spy := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[behaviors.Observation], o behaviors.Observation) actor.Behavior[behaviors.Observation] {
		if o.Signal != nil {
			fmt.Printf("%s handled the signal %T\n", o.Actor.Path(), o.Signal)
			return behaviors.Stopped
		}
		fmt.Printf("%s handled %v\n", o.Actor.Path(), o.Message)
		return behaviors.Same
	}), "spy")
	ref := actor.Spawn(system, behaviors.Spy(spy, speaker()), "speaker")
	ref.Tell("bye")
	finish(system, spy)
	// Output:
	// bye
	// understudy://example/user/speaker handled bye
	// understudy://example/user/speaker handled the signal actor.PostStop
}

// A connection stashes requests until it is open, and then handles them.
func ExampleWithStash() {
	open := behaviors.Receive(func(_ *actor.Context[string], request string) actor.Behavior[string] {
		fmt.Println("handled", request)
		if request == "bye" {
			return behaviors.Stopped
		}
		return behaviors.Same
	})
	opening := behaviors.WithStash(100, func(stash *actor.Stash[string]) actor.Behavior[string] {
		return behaviors.Receive(func(_ *actor.Context[string], request string) actor.Behavior[string] {
			if request == "opened" {
				fmt.Println(stash.Len(), "have waited")
				return stash.UnstashAll(open)
			}
			return stash.Stash(request)
		})
	})
	system := actor.NewSystem("example")
	ref := actor.Spawn(system, opening, "connection")
	for _, request := range []string{"first", "second", "opened", "bye"} {
		ref.Tell(request)
	}
	finish(system, ref)
	// Output:
	// 2 have waited
	// handled first
	// handled second
	// handled bye
}

// A thermometer receives degrees Fahrenheit, and works in degrees Celsius.
func ExampleTransform() {
	type fahrenheit float64
	type celsius float64
	thermometer := behaviors.Receive(func(_ *actor.Context[celsius], t celsius) actor.Behavior[celsius] {
		fmt.Printf("%.1f °C\n", t)
		return behaviors.Stopped
	})
	system := actor.NewSystem("example")
	ref := actor.Spawn(system, behaviors.Transform(thermometer, func(f fahrenheit) (celsius, bool) {
		return celsius((f - 32) / 1.8), f > -459.67
	}), "thermometer")
	ref.Tell(-1000) // unhandled
	ref.Tell(451)
	finish(system, ref)
	// Output: 232.8 °C
}

// finish waits until ref has ended, and shuts the system down.
func finish(system *actor.System, ref actor.AnyRef) {
	ended := make(chan struct{})
	actor.Spawn(system, behaviors.Setup(func(ctx *actor.Context[struct{}]) actor.Behavior[struct{}] {
		ctx.WatchWith(ref, struct{}{})
		return behaviors.Receive(func(*actor.Context[struct{}], struct{}) actor.Behavior[struct{}] {
			close(ended)
			return behaviors.Stopped
		})
	}), "")
	<-ended
	if err := system.Shutdown(context.Background()); err != nil {
		panic(err)
	}
}

// A spy on a tree also sees the messages and signals of the children.
func ExampleSpyTree() {
	system := actor.NewSystem("example")
	spy := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[behaviors.Observation], o behaviors.Observation) actor.Behavior[behaviors.Observation] {
		if o.Message == "bye" {
			fmt.Println(o.Actor.Path(), "handled", o.Message)
			return behaviors.Stopped
		}
		return behaviors.Same
	}), "spy")
	actor.Spawn(system, behaviors.SpyTree(spy, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
		actor.Spawn(ctx, speaker(), "speaker").Tell("bye")
		return behaviors.Ignore
	})), "parent")
	finish(system, spy)
	// Output:
	// bye
	// understudy://example/user/parent/speaker handled bye
}
