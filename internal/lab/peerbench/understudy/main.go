// Command understudy runs the scenarios of peerbench on understudy.
package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func main() {
	bench.Main(map[string]bench.Contender{
		"default":     contender{ask: askTimeout},
		"context":     contender{ask: askContext},
		"no deadline": contender{ask: ask},
	})
}

// contender runs the scenarios on this library. ask asks the adder for the number after i.
type contender struct {
	ask func(adder actor.ActorRef[question], i int) int
}

// The messages that have names on the wire.
type (
	question struct {
		_       struct{} `cbor:",toarray"`
		N       int
		ReplyTo actor.ActorRef[int]
	}
	parcel struct {
		_    struct{} `cbor:",toarray"` // without the names of fields, as with protobuf
		Data []byte
	}
)

func init() {
	actor.RegisterType[question]("peerbench.question")
	actor.RegisterType[parcel]("peerbench.parcel")
}

func (contender) Tell(r *bench.Run, senders int) {
	bench.Tell(r, senders, sinks(), func(to actor.ActorRef[bench.Small]) func(bench.Small) { return to.Tell })
}

func (contender) FanOut(r *bench.Run, actors int) { bench.FanOut(r, actors, sinks(), sendAll) }

func (contender) Block(r *bench.Run) { bench.Block(r, sinks(), sendAll) }

// sinks returns a function that spawns actors in a new system. It is not generic, as behaviors.Same
// would be allocated for each message then.
func sinks() func(k *bench.Sink) actor.ActorRef[bench.Small] {
	s := actor.NewSystem("bench")
	return func(k *bench.Sink) actor.ActorRef[bench.Small] {
		return actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[bench.Small], m bench.Small) actor.Behavior[bench.Small] {
			k.Got(m)
			return behaviors.Same
		}), "")
	}
}

func sendAll(to []actor.ActorRef[bench.Small], n int) {
	for i := range n {
		to[i%len(to)].Tell(bench.Small{A: i / len(to)})
	}
}

func (contender) Quiet(r *bench.Run, compute time.Duration) {
	s := actor.NewSystem("bench")
	bench.Quiet(r, compute, func(handle func() bool) actor.ActorRef[bench.Small] {
		return actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[bench.Small], m bench.Small) actor.Behavior[bench.Small] {
			if handle() {
				ctx.Self().Tell(m)
			}
			return behaviors.Same
		}), "")
	}, func(to actor.ActorRef[bench.Small]) { to.Tell(bench.Small{}) })
}

// A ball flies between two players.
type ball struct {
	left int // throws
	from actor.ActorRef[ball]
}

func (contender) PingPong(r *bench.Run, pairs int) {
	s := actor.NewSystem("bench")
	player := func(all *bench.Tally) actor.ActorRef[ball] {
		return actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[ball], b ball) actor.Behavior[ball] {
			if b.left == 0 {
				all.Arrived()
				return behaviors.Same
			}
			b.from.Tell(ball{b.left - 1, ctx.Self()})
			return behaviors.Same
		}), "")
	}
	bench.PingPong(r, pairs, player, func(to, from actor.ActorRef[ball], throws int) { to.Tell(ball{throws, from}) })
}

func (u contender) Ask(r *bench.Run, askers int) {
	ref := actor.Spawn(actor.NewSystem("bench"), adder, "adder")
	bench.Ask(r, askers, func(i int) int { return u.ask(ref, i) })
}

// adder answers questions.
var adder = behaviors.Receive(func(_ *actor.Context[question], q question) actor.Behavior[question] {
	q.ReplyTo.Tell(q.N + 1)
	return behaviors.Same
})

// askTimeout asks with a deadline.
func askTimeout(adder actor.ActorRef[question], i int) int {
	return numbered(actor.AskTimeout(context.Background(), adder, bench.AskTimeout, func(replyTo actor.ActorRef[int]) question { return question{N: i, ReplyTo: replyTo} }))
}

// askContext asks with the deadline of a context.
func askContext(adder actor.ActorRef[question], i int) int {
	ctx, cancel := context.WithTimeout(context.Background(), bench.AskTimeout)
	defer cancel()
	return numbered(actor.Ask(ctx, adder, func(replyTo actor.ActorRef[int]) question { return question{N: i, ReplyTo: replyTo} }))
}

// ask asks without a deadline.
func ask(adder actor.ActorRef[question], i int) int {
	return numbered(actor.Ask(context.Background(), adder, func(replyTo actor.ActorRef[int]) question { return question{N: i, ReplyTo: replyTo} }))
}

func numbered(n int, err error) int {
	if err != nil {
		panic(err)
	}
	return n
}

func (contender) Spawn(r *bench.Run) {
	bench.SpawnAll(r, idle(actor.NewSystem("bench")))
	r.Stop()
}

func (contender) Idle(r *bench.Run) {
	s := actor.NewSystem("bench")
	refs := bench.SpawnAll(r, idle(s))
	r.StopLive()
	refs[0].Tell(bench.Small{})
	if err := s.Shutdown(context.Background()); err != nil {
		panic(err)
	}
}

func idle(s *actor.System) func(started *bench.Tally) func() actor.ActorRef[bench.Small] {
	return func(started *bench.Tally) func() actor.ActorRef[bench.Small] {
		b := behaviors.Setup(func(*actor.Context[bench.Small]) actor.Behavior[bench.Small] {
			started.Arrived()
			return behaviors.Ignore
		})
		return func() actor.ActorRef[bench.Small] { return actor.Spawn(s, b, "") }
	}
}

func (contender) SpawnAndStop(r *bench.Run) {
	s := actor.NewSystem("bench")
	bench.SpawnAndStop(r, func(started, ended *bench.Tally) func(int) {
		child := behaviors.Setup(func(*actor.Context[bench.Small]) actor.Behavior[bench.Small] {
			started.Arrived()
			return behaviors.Ignore
		}).OnSignal(func(_ *actor.Context[bench.Small], sig actor.Signal) actor.Behavior[bench.Small] {
			if _, over := sig.(actor.PostStop); over {
				ended.Arrived()
			}
			return behaviors.Same
		})
		children := make([]actor.ActorRef[bench.Small], 0, r.N)
		return actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
			for range n {
				children = append(children, actor.Spawn(ctx, child, ""))
			}
			if n == 0 {
				for _, c := range children {
					ctx.Stop(c)
				}
			}
			return behaviors.Same
		}), "parent").Tell
	})
}

// A branch is one actor of skynet.
type branch struct {
	leaves, number int
	sum            int // what comes back; leaves is 0
	up             actor.ActorRef[branch]
}

func (contender) Skynet(r *bench.Run) {
	s := actor.NewSystem("bench")
	bench.Skynet(r, func(sum chan<- int) func(int) {
		root := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[branch], b branch) actor.Behavior[branch] {
			sum <- b.sum
			return behaviors.Same
		}), "root")
		return func(leaves int) { actor.Spawn(s, branches(), "").Tell(branch{leaves: leaves, up: root}) }
	})
}

// branches returns the behavior of one actor of skynet.
func branches() actor.Behavior[branch] {
	var up actor.ActorRef[branch]
	left, sum := 0, 0
	return behaviors.Receive(func(ctx *actor.Context[branch], b branch) actor.Behavior[branch] {
		switch {
		case b.leaves == 1:
			b.up.Tell(branch{sum: b.number})
			return behaviors.Stopped
		case b.leaves > 1:
			up, left = b.up, bench.SkynetBranches
			for i := range bench.SkynetBranches {
				size := b.leaves / bench.SkynetBranches
				actor.Spawn(ctx, branches(), "").Tell(branch{leaves: size, number: b.number + i*size, up: ctx.Self()})
			}
			return behaviors.Same
		}
		sum += b.sum
		if left--; left > 0 {
			return behaviors.Same
		}
		up.Tell(branch{sum: sum})
		return behaviors.Stopped
	})
}

func (contender) Timers(r *bench.Run) {
	s := actor.NewSystem("bench")
	bench.Timers(r, func(fired *bench.Tally) actor.ActorRef[int] {
		return actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], timers int) actor.Behavior[int] {
			if timers < 0 {
				fired.Arrived()
				return behaviors.Same
			}
			for k := range timers {
				ctx.After(strconv.Itoa(k), bench.TimerDelay(k, timers), -1)
			}
			return behaviors.Same
		}), "")
	}, func(to actor.ActorRef[int], timers int) { to.Tell(timers) })
}

// node starts a system that others reach. A message is a little larger than its payload.
func node() *actor.System {
	e, err := transport.Listen(transport.Config{MaxMessage: 2 * bench.MostPayload})
	if err != nil {
		panic(err)
	}
	s := actor.NewSystem("bench", extension.WithTransport(e.Addr(), e))
	e.Serve(s)
	return s
}

func (contender) Serve(sinks []func(payload []byte)) (address string) {
	s := node()
	address = actor.Spawn(s, adder, "adder").String()
	for _, got := range sinks {
		address += " " + actor.Spawn(s, sink(got), "").String()
	}
	return address
}

func (u contender) Dial(address string) bench.Connection {
	s := node()
	at := strings.Fields(address)
	sinks := make([]actor.ActorRef[parcel], len(at)-1)
	for i := range sinks {
		sinks[i] = actor.Resolve[parcel](s, at[i+1])
	}
	return u.connection(actor.Resolve[question](s, at[0]), sinks...)
}

// DialAll implements [bench.Spreader].
func (u contender) DialAll(addresses []string) (asks []func(n int) int) {
	s := node()
	for _, address := range addresses {
		adder := actor.Resolve[question](s, strings.Fields(address)[0])
		asks = append(asks, func(n int) int { return u.ask(adder, n) })
	}
	return asks
}

func (u contender) connection(adder actor.ActorRef[question], sinks ...actor.ActorRef[parcel]) bench.Connection {
	return bench.Connection{
		Send:  func(to int, payload []byte) { sinks[to].Tell(parcel{Data: payload}) },
		Enter: bench.Anywhere(func(n int) int { return u.ask(adder, n) }),
	}
}
