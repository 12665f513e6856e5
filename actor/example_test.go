package actor_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
)

func ExampleSpawn() {
	system := actor.NewSystem("example")
	greeter := actor.Spawn(system, behaviors.Receive(
		func(ctx *actor.Context[string], name string) actor.Behavior[string] {
			fmt.Printf("%s says: hello, %s\n", ctx.Self().Path(), name)
			return behaviors.Stopped
		}), "greeter")
	greeter.Tell("Ada")

	watchUntilItEnds(system, greeter)
	fmt.Println(system.Shutdown(context.Background()))
	// Output:
	// understudy://example/user/greeter says: hello, Ada
	// <nil>
}

func ExampleAsk() {
	type Square struct {
		N       int
		ReplyTo actor.ActorRef[int]
	}
	system := actor.NewSystem("example")
	defer shutdown(system)
	squarer := actor.Spawn(system, behaviors.Receive(
		func(_ *actor.Context[Square], q Square) actor.Behavior[Square] {
			q.ReplyTo.Tell(q.N * q.N)
			return behaviors.Same
		}), "squarer")

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n, err := actor.Ask(ctx, squarer, func(replyTo actor.ActorRef[int]) Square { return Square{7, replyTo} })
	fmt.Println(n, err)
	// Output: 49 <nil>
}

// An ask with a timeout ends in time, even if nobody replies.
func ExampleAskTimeout() {
	type Square struct {
		N       int
		ReplyTo actor.ActorRef[int]
	}
	system := actor.NewSystem("example")
	defer shutdown(system)
	squarer := actor.Spawn(system, behaviors.Receive(
		func(_ *actor.Context[Square], q Square) actor.Behavior[Square] {
			if q.N >= 0 {
				q.ReplyTo.Tell(q.N * q.N)
			}
			return behaviors.Same
		}), "squarer")

	for n, timeout := range map[int]time.Duration{7: time.Minute, -1: time.Millisecond} {
		square, err := actor.AskTimeout(context.Background(), squarer, timeout, func(replyTo actor.ActorRef[int]) Square {
			return Square{n, replyTo}
		})
		fmt.Println(square, errors.Is(err, context.DeadlineExceeded))
	}
	// Unordered output:
	// 49 false
	// 0 true
}

// When an actor ends, its unanswered asks end with an error.
func ExampleAsk_terminated() {
	type Question struct{ ReplyTo actor.ActorRef[int] }
	system := actor.NewSystem("example")
	defer shutdown(system)
	shy := actor.Spawn(system, behaviors.Receive(
		func(*actor.Context[Question], Question) actor.Behavior[Question] { return behaviors.Stopped }), "shy")

	_, err := actor.Ask(context.Background(), shy, func(replyTo actor.ActorRef[int]) Question { return Question{replyTo} })
	fmt.Println(errors.Is(err, actor.ErrTerminated))
	fmt.Println(err)
	// Output:
	// true
	// ask understudy://example/user/shy: actor: terminated before it replied
}

func ExampleContext_Watch() {
	system := actor.NewSystem("example")
	defer shutdown(system)
	done := make(chan struct{})
	actor.Spawn(system, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
		worker := actor.Spawn(ctx, behaviors.Receive(
			func(ctx *actor.Context[int], n int) actor.Behavior[int] {
				return ctx.Fail(fmt.Errorf("cannot take %d", n))
			}), "worker")
		ctx.Watch(worker)
		worker.Tell(7)

		ignore := func(*actor.Context[int], int) actor.Behavior[int] { return behaviors.Same }
		return behaviors.Receive(ignore).OnSignal(
			func(_ *actor.Context[int], sig actor.Signal) actor.Behavior[int] {
				switch sig := sig.(type) {
				case actor.ChildFailed:
					fmt.Println(sig.Ref.Path(), "failed:", sig.Err)
					close(done)
				case actor.Terminated:
					fmt.Println(sig.Ref.Path(), "has done its work")
				case actor.PostStop, actor.PreRestart, actor.AdaptFailed:
				}
				return behaviors.Same
			})
	}), "boss")
	<-done
	// Output: understudy://example/user/boss/worker failed: cannot take 7
}

// WatchWith sends a message of the actor's own type instead of a signal.
func ExampleContext_WatchWith() {
	type WorkerEnded struct{ Number int }
	system := actor.NewSystem("example")
	defer shutdown(system)
	done := make(chan struct{})
	actor.Spawn(system, behaviors.Setup(func(ctx *actor.Context[WorkerEnded]) actor.Behavior[WorkerEnded] {
		ctx.WatchWith(actor.Spawn(ctx, behaviors.Stopped[int], ""), WorkerEnded{1})
		return behaviors.Receive(func(_ *actor.Context[WorkerEnded], e WorkerEnded) actor.Behavior[WorkerEnded] {
			fmt.Println("worker", e.Number, "has ended")
			close(done)
			return behaviors.Same
		})
	}), "boss")
	<-done
	// Output: worker 1 has ended
}

// An adapter lets an actor receive replies of another protocol without adding them to its own
// messages.
func ExampleAdapt() {
	type Translate struct {
		Word    string
		ReplyTo actor.ActorRef[string] // the translator's protocol knows strings
	}
	type Translated struct{ Word string } // the customer's protocol has a type for it

	system := actor.NewSystem("example")
	defer shutdown(system)
	translator := actor.Spawn(system, behaviors.Receive(
		func(_ *actor.Context[Translate], msg Translate) actor.Behavior[Translate] {
			msg.ReplyTo.Tell(strings.ToUpper(msg.Word))
			return behaviors.Same
		}), "translator")
	done := make(chan struct{})
	actor.Spawn(system, behaviors.Setup(func(ctx *actor.Context[Translated]) actor.Behavior[Translated] {
		replies := actor.Adapt(ctx, func(word string) Translated { return Translated{word} })
		translator.Tell(Translate{"hello", replies})
		return behaviors.Receive(func(_ *actor.Context[Translated], msg Translated) actor.Behavior[Translated] {
			fmt.Printf("%+v\n", msg)
			close(done)
			return behaviors.Same
		})
	}), "customer")
	<-done
	// Output: {Word:HELLO}
}

// A blocking call runs beside the actor, which handles other messages meanwhile.
func ExamplePipeToSelf() {
	type Loaded struct {
		Number int
		Err    error
	}
	system := actor.NewSystem("example")
	defer shutdown(system)
	done := make(chan struct{})
	load := func(context.Context) (int, error) { return strconv.Atoi("forty-two") }
	actor.Spawn(system, behaviors.Setup(func(ctx *actor.Context[Loaded]) actor.Behavior[Loaded] {
		actor.PipeToSelf(ctx, load, func(n int, err error) Loaded { return Loaded{n, err} })
		return behaviors.Receive(func(_ *actor.Context[Loaded], msg Loaded) actor.Behavior[Loaded] {
			fmt.Println(msg.Number, msg.Err)
			close(done)
			return behaviors.Same
		})
	}), "loader")
	<-done
	// Output: 0 strconv.Atoi: parsing "forty-two": invalid syntax
}

func ExampleStrategy() {
	errNetwork := errors.New("network is down")
	strategy := actor.Strategy{
		// At most five restarts in a minute, and not too fast.
		Limit: 5, Window: time.Minute,
		Backoff: actor.Backoff{Min: time.Millisecond, Max: time.Second, Jitter: 0.2},
		Decide: func(err error) actor.Directive {
			var panicked *actor.PanicError
			switch {
			case errors.Is(err, errNetwork):
				return actor.Restart
			case errors.As(err, &panicked):
				return actor.Stop // a mistake in the program
			}
			return actor.Escalate // let the parent decide
		},
	}
	system := actor.NewSystem("example")
	defer shutdown(system)
	client := actor.Spawn(system, behaviors.Supervise(behaviors.Setup(
		func(*actor.Context[string]) actor.Behavior[string] {
			fmt.Println("connecting")
			return behaviors.Receive(func(ctx *actor.Context[string], msg string) actor.Behavior[string] {
				switch msg {
				case "hang up":
					return ctx.Fail(errNetwork)
				case "end":
					return behaviors.Stopped
				}
				fmt.Println("sending", msg)
				return behaviors.Same
			})
		}), strategy), "client")
	for _, msg := range []string{"hello", "hang up", "hello again", "end"} {
		client.Tell(msg)
	}
	watchUntilItEnds(system, client)
	// Output:
	// connecting
	// sending hello
	// connecting
	// sending hello again
}

func ExampleContext_Every() {
	system := actor.NewSystem("example")
	defer shutdown(system)
	clock := actor.Spawn(system, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
		ctx.Every("tick", time.Millisecond, "tick")
		ticks := 0
		return behaviors.Receive(func(ctx *actor.Context[string], msg string) actor.Behavior[string] {
			fmt.Println(msg)
			if ticks++; ticks == 2 {
				ctx.CancelTimer("tick")
				ctx.After("alarm", time.Millisecond, "alarm")
			}
			if msg == "alarm" {
				return behaviors.Stopped
			}
			return behaviors.Same
		})
	}), "clock")
	watchUntilItEnds(system, clock)
	// Output:
	// tick
	// tick
	// alarm
}

// Dead letters are published, so that a program can count, log or store them.
func ExampleSubscribe() {
	system := actor.NewSystem("example")
	defer shutdown(system)
	done := make(chan struct{})
	morgue := actor.Spawn(system, behaviors.Receive(
		func(_ *actor.Context[actor.DeadLetter], lost actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
			fmt.Printf("%q for %q: %v\n", lost.Message, lost.Recipient, lost.Reason)
			close(done)
			return behaviors.Same
		}), "morgue")
	actor.Subscribe(system, morgue)

	actor.Resolve[string](system, "understudy://example/user/nobody").Tell("hello?")
	<-done
	// Output: "hello?" for "understudy://example/user/nobody": actor: no such actor
}

// Greet may leave the process: its type has a name that every node knows.
type Greet struct {
	Name    string
	ReplyTo actor.ActorRef[string]
}

func init() { actor.RegisterType[Greet]("example.Greet") }

func ExampleRegisterType() {
	system := actor.NewSystem("example")
	defer shutdown(system)

	payload, err := extension.Pack(Greet{Name: "Ada"}) // a node encodes it to send it
	fmt.Println(payload.Type, err)
	msg, err := extension.Unpack(system, payload) // another node decodes it
	fmt.Println(msg.(Greet).Name, err)

	_, err = extension.Pack(struct{ Secret int }{42})
	fmt.Println(err)
	// Output:
	// example.Greet <nil>
	// Ada <nil>
	// actor: message cannot be encoded: type struct { Secret int } is not registered; add to an init function: actor.RegisterType[struct { Secret int }]("a stable name")
}

// watchUntilItEnds returns when the actor behind ref has ended.
func watchUntilItEnds(system *actor.System, ref actor.AnyRef) {
	ended := make(chan struct{})
	actor.Spawn(system, behaviors.Setup(func(ctx *actor.Context[struct{}]) actor.Behavior[struct{}] {
		ctx.WatchWith(ref, struct{}{})
		return behaviors.Receive(func(*actor.Context[struct{}], struct{}) actor.Behavior[struct{}] {
			close(ended)
			return behaviors.Stopped
		})
	}), "")
	<-ended
}

// shutdown ends a system that nothing keeps from ending.
func shutdown(system *actor.System) {
	if err := system.Shutdown(context.Background()); err != nil {
		panic(err)
	}
}
