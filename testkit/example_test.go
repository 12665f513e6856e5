package testkit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// example runs f as a test. In a test of your own, use the t of the test.
func example(f func(t testing.TB)) {
	t := &fakeTest{}
	f(t)
	t.cleanUp()
	if t.failed {
		fmt.Println(t.complaint)
	}
}

type hello struct {
	Name    string
	ReplyTo actor.ActorRef[string]
}

func init() { actor.RegisterType[hello]("testkit_test.hello") }

func greeter() actor.Behavior[hello] {
	return behaviors.Receive(func(_ *actor.Context[hello], msg hello) actor.Behavior[hello] {
		if msg.Name == "" {
			return behaviors.Stopped
		}
		msg.ReplyTo.Tell("hello, " + msg.Name)
		return behaviors.Same
	})
}

func ExampleProbe() {
	example(func(t testing.TB) {
		system := testkit.NewSystem(t)
		probe := testkit.NewProbe[string](t, system)
		ref := actor.Spawn(system, greeter(), "greeter")

		ref.Tell(hello{"Ada", probe.Ref()})
		probe.Expect("hello, Ada")

		ref.Tell(hello{"Grace", probe.Ref()})
		fmt.Println(probe.Receive())

		ref.Tell(hello{})
		probe.ExpectTerminated(ref)
	})
	// Output: hello, Grace
}

func ExampleProbe_Fish() {
	example(func(t testing.TB) {
		probe := testkit.NewProbe[int](t, testkit.NewSystem(t))
		for n := range 100 {
			probe.Ref().Tell(n)
		}
		fmt.Println(probe.Fish(func(n int) testkit.Fishing {
			switch {
			case n == 9:
				return testkit.Complete
			case n%3 == 0:
				return testkit.Keep
			}
			return testkit.Ignore
		}))
	})
	// Output: [0 3 6 9]
}

func ExampleProbe_Within() {
	example(func(t testing.TB) {
		probe := testkit.NewProbe[string](t, testkit.NewSystem(t))
		probe.Ref().Tell("first")
		probe.Ref().Tell("second")
		probe.Within(time.Second, func() { // both together, not each
			probe.Expect("first")
			probe.Expect("second")
		})
		fmt.Println("in time")
	})
	// Output: in time
}

func ExampleAsk() {
	example(func(t testing.TB) {
		ref := actor.Spawn(testkit.NewSystem(t), greeter(), "greeter")
		fmt.Println(testkit.Ask(t.Context(), t, ref, func(r actor.ActorRef[string]) hello { return hello{"Ada", r} }))
	})
	// Output: hello, Ada
}

// A census shows whether there was ever more than one instance of something.
func ExampleCensus() {
	example(func(t testing.TB) {
		system := testkit.NewSystem(t)
		probe := testkit.NewProbe[string](t, system)
		census := testkit.NewCensus(t)
		factory := testkit.Counted(census, greeter)
		for range 3 {
			ref := actor.Spawn(system, factory(), "the-only-one")
			ref.Tell(hello{})
			probe.ExpectTerminated(ref)
		}
		fmt.Println(census.Started(), "started,", census.Peak(), "at once,", census.Running(), "running")
	})
	// Output: 3 started, 1 at once, 0 running
}
