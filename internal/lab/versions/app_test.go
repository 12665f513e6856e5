//go:build unix

package versions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// The messages of the first version.
type (
	orderV1   struct{ Item, Coupon string }
	cancelled struct{ Item string }
)

// The messages of the second version: an order has no coupon any more, and a quantity; cancelled
// has another name in Go; refund is new.
type (
	orderV2 struct {
		Item     string
		Quantity int
	}
	withdrawn struct{ Item string }
	refund    struct {
		Item    string
		ReplyTo actor.ActorRef[int]
	}
)

// The events of both versions.
type (
	addedV1 struct{ N int }
	addedV2 struct {
		N  int
		By string // in the first version it was not known
	}
)

// An add is a command to the counter.
type add struct {
	N       int
	ReplyTo actor.ActorRef[int]
}

// A version is what differs between the programs.
type version struct {
	register func()
	messages map[string]any
	counter  func(j persistence.Journal) actor.Behavior[add]
}

var versions = map[string]version{
	"1": {
		register: func() {
			actor.RegisterType[orderV1]("shop.order")
			actor.RegisterType[cancelled]("shop.cancelled")
			actor.RegisterType[addedV1]("shop.added")
		},
		messages: map[string]any{"order": orderV1{"tea", "spring"}, "cancelled": cancelled{"tea"}},
		counter: func(j persistence.Journal) actor.Behavior[add] {
			return counter(j, func(n int) addedV1 { return addedV1{n} }, func(e addedV1) int { return e.N })
		},
	},
	"2": {
		register: func() {
			actor.RegisterType[orderV2]("shop.order")
			actor.RegisterType[withdrawn]("shop.cancelled")
			actor.RegisterType[refund]("shop.refund")
			actor.RegisterType[addedV2]("shop.added")
		},
		messages: map[string]any{"order": orderV2{"tea", 3}, "cancelled": withdrawn{"tea"}, "refund": refund{Item: "tea"}},
		counter: func(j persistence.Journal) actor.Behavior[add] {
			return counter(j, func(n int) addedV2 { return addedV2{n, "second"} }, func(e addedV2) int { return e.N })
		},
	},
}

// counter adds numbers. E is the type of its events.
func counter[E any](j persistence.Journal, event func(n int) E, amount func(E) int) actor.Behavior[add] {
	return behaviors.EventSourced("counter", j, 0,
		func(sum int, e E) int { return sum + amount(e) },
		func(_ *actor.Context[add], sum int, m add) persistence.Effect[E] {
			return persistence.Persist(event(m.N)).Then(func() { m.ReplyTo.Tell(sum + m.N) })
		},
		persistence.Options[add, E, int]{})
}

// run runs a version of the application. It prints what happens, and obeys the lines of its
// standard input until that ends.
func run(ctx context.Context, v version, database string, seeds []string) error {
	v.register()
	actor.RegisterType[add]("shop.add")
	journal, err := sqlite.Open(database) //nolint:contextcheck // opening takes no context
	if err != nil {
		return err
	}
	defer journal.Close()
	node, err := cluster.Start(ctx, cluster.Config{Name: "shop", Bind: "127.0.0.1:0", Seeds: seeds, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	actor.Spawn(node, behaviors.Receive(func(_ *actor.Context[any], m any) actor.Behavior[any] {
		say("handled %#v", m)
		return nil
	}), "desk")
	actor.Subscribe(node.System, actor.Spawn(node, behaviors.Receive(func(_ *actor.Context[actor.DeadLetter], d actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
		say("dead letter %v", d.Reason)
		return nil
	}), "deadletters"))
	sum := actor.Spawn(node, behaviors.Singleton(func() actor.Behavior[add] { return v.counter(journal) }), "counter")
	say("%s", node.View().Self.Address)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch words[0] {
		case "tell": // a node, a message
			actor.Resolve[any](node.System, "understudy://shop@"+words[1]+"/user/desk").Tell(v.messages[words[2]])
		case "refund": // a node, which is asked for one
			desk := actor.Resolve[any](node.System, "understudy://shop@"+words[1]+"/user/desk")
			_, err := actor.AskTimeout(ctx, desk, time.Second, func(r actor.ActorRef[int]) any { return refund{"tea", r} })
			say("refund: %v", err)
		case "add":
			total, err := actor.AskTimeout(ctx, sum, 20*time.Second, func(r actor.ActorRef[int]) add { return add{1, r} })
			say("sum %d %v", total, err)
		case "leave":
			err := node.Leave(ctx)
			say("left %v", err)
			return err
		}
	}
	return errors.New("it was not asked to leave")
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }
