package bench

import "time"

// A Library is an actor library whose messages are of any type. C is what a handler is given beside
// its message, P refers to an actor.
type Library[C, P any] interface {
	// Spawn spawns an actor. The handlers of an actor run one at a time.
	Spawn(Actor[C]) P
	// SpawnChild spawns a child of an actor.
	SpawnChild(C, Actor[C]) P
	// Send sends a message from outside of all actors.
	Send(to P, message any)
	// Tell sends a message from an actor.
	Tell(from C, to P, message any)
	// Ask asks an actor from outside of all actors, with a deadline.
	Ask(to P, message any, timeout time.Duration) (any, error)
	// Respond answers the message that is being handled.
	Respond(C, any)
	Self(C) P
	// Stop stops an actor, from an actor.
	Stop(C, P)
	// After sends the actor a message once d has passed. The handler of the message calls fired,
	// unless it is nil.
	After(c C, d time.Duration, message any) (fired func())
	Remoting[P]
}

// An AskFunc asks an actor, with a deadline.
type AskFunc[P any] = func(to P, message any, timeout time.Duration) (any, error)

// An enterer is a library in which only actors can ask. Enter calls loop in an actor, and returns
// when loop does.
type enterer[P any] interface{ Enter(loop func(AskFunc[P])) }

// Remoting is the part of a library that sends messages to other processes.
type Remoting[P any] interface {
	Address(P) string
	// At returns the actor with that address.
	At(address string) P
	// Pack returns a message with that payload, Unpack returns the payload.
	Pack(payload []byte) any
	Unpack(message any) (payload []byte, ok bool)
}

// An Actor says what an actor of an untyped library does. Functions that are nil do nothing.
type Actor[C any] struct {
	Receive          func(c C, message any)
	Started, Stopped func()
}

// Untyped runs the scenarios on an untyped library.
type Untyped[C, P any] struct {
	// New starts a system, reachable for other processes if remoting is true.
	New func(remoting bool) Library[C, P]
}

var _ Contender = Untyped[any, any]{}

// AskTimeout is the deadline of an ask that never takes so long.
const AskTimeout = time.Minute

// A system is a system of an untyped library.
type system[C, P any] struct{ Library[C, P] }

func (u Untyped[C, P]) local() system[C, P] { return system[C, P]{u.New(false)} }

func (s system[C, P]) sink(k *Sink) P {
	return s.Spawn(Actor[C]{Receive: func(_ C, message any) {
		if m, ok := message.(Small); ok {
			k.Got(m)
		}
	}})
}

func (s system[C, P]) sendAll(to []P, n int) {
	for i := range n {
		s.Send(to[i%len(to)], Small{A: i / len(to)})
	}
}

// Tell implements [Contender].
func (u Untyped[C, P]) Tell(r *Run, senders int) {
	s := u.local()
	Tell(r, senders, s.sink, func(to P) func(Small) {
		return func(m Small) { s.Send(to, m) }
	})
}

// FanOut implements [Contender].
func (u Untyped[C, P]) FanOut(r *Run, actors int) {
	s := u.local()
	FanOut(r, actors, s.sink, s.sendAll)
}

// Block implements [Contender].
func (u Untyped[C, P]) Block(r *Run) {
	s := u.local()
	Block(r, s.sink, s.sendAll)
}

// A throw is a ball that flies between two players.
type throw[P any] struct {
	left int
	from P
}

// PingPong implements [Contender].
func (u Untyped[C, P]) PingPong(r *Run, pairs int) {
	s := u.local()
	player := func(all *Tally) P {
		return s.Spawn(Actor[C]{Receive: func(c C, message any) {
			b, ok := message.(throw[P])
			switch {
			case !ok:
			case b.left == 0:
				all.Arrived()
			default:
				s.Tell(c, b.from, throw[P]{b.left - 1, s.Self(c)})
			}
		}})
	}
	PingPong(r, pairs, player, func(to, from P, throws int) { s.Send(to, throw[P]{throws, from}) })
}

// Quiet implements [Contender].
func (u Untyped[C, P]) Quiet(r *Run, compute time.Duration) {
	s := u.local()
	Quiet(r, compute, func(handle func() bool) P {
		return s.Spawn(Actor[C]{Receive: func(c C, message any) {
			if m, ok := message.(Small); ok && handle() {
				s.Tell(c, s.Self(c), m)
			}
		}})
	}, func(to P) { s.Send(to, Small{}) })
}

// Ask implements [Contender].
func (u Untyped[C, P]) Ask(r *Run, askers int) {
	s := u.local()
	adder := s.Spawn(Actor[C]{Receive: func(c C, message any) {
		if n, ok := message.(int); ok {
			s.Respond(c, n+1)
		}
	}})
	askWithin(r, askers, func(loop func(func(i int) int)) {
		s.enter(func(ask AskFunc[P]) {
			loop(func(i int) int {
				got, err := ask(adder, i, AskTimeout)
				check(err)
				return got.(int)
			})
		})
	})
}

// enter calls loop where the library can ask: anywhere, unless it says otherwise.
func (s system[C, P]) enter(loop func(AskFunc[P])) {
	if e, ok := s.Library.(enterer[P]); ok {
		e.Enter(loop)
		return
	}
	loop(s.Ask)
}

// Spawn implements [Contender].
func (u Untyped[C, P]) Spawn(r *Run) {
	SpawnAll(r, u.local().idle)
	r.Stop()
}

// Idle implements [Contender].
func (u Untyped[C, P]) Idle(r *Run) {
	s := u.local()
	actors := SpawnAll(r, s.idle)
	r.StopLive()
	s.Send(actors[0], Small{})
}

func (s system[C, P]) idle(started *Tally) func() P {
	idle := Actor[C]{Started: started.Arrived}
	return func() P { return s.Spawn(idle) }
}

// SpawnAndStop implements [Contender].
func (u Untyped[C, P]) SpawnAndStop(r *Run) {
	s := u.local()
	SpawnAndStop(r, func(started, ended *Tally) func(int) {
		child := Actor[C]{Started: started.Arrived, Stopped: ended.Arrived}
		children := make([]P, 0, r.N)
		parent := s.Spawn(Actor[C]{Receive: func(c C, message any) {
			n, ok := message.(int)
			for range n {
				children = append(children, s.SpawnChild(c, child))
			}
			if ok && n == 0 {
				for _, p := range children {
					s.Stop(c, p)
				}
			}
		}})
		return func(n int) { s.Send(parent, n) }
	})
}

// The messages of skynet.
type (
	branch[P any] struct {
		leaves, number int
		up             P
	}
	total struct{ sum int }
)

// Skynet implements [Contender].
func (u Untyped[C, P]) Skynet(r *Run) {
	s := u.local()
	Skynet(r, func(sum chan<- int) func(int) {
		root := s.Spawn(Actor[C]{Receive: func(c C, message any) {
			switch m := message.(type) {
			case branch[P]:
				s.grow(c, m.leaves, m.number)
			case total:
				sum <- m.sum
			}
		}})
		return func(leaves int) { s.Send(root, branch[P]{leaves: leaves}) }
	})
}

// grow spawns a node for leaves from number on, which reports to the actor of c.
func (s system[C, P]) grow(c C, leaves, number int) {
	s.Tell(c, s.SpawnChild(c, s.node()), branch[P]{leaves, number, s.Self(c)})
}

func (s system[C, P]) node() Actor[C] {
	left, sum := 0, 0
	var up P
	report := func(c C, sum int) {
		s.Tell(c, up, total{sum})
		s.Stop(c, s.Self(c))
	}
	return Actor[C]{Receive: func(c C, message any) {
		switch m := message.(type) {
		case branch[P]:
			up = m.up
			if m.leaves == 1 {
				report(c, m.number)
				return
			}
			left = SkynetBranches
			size := m.leaves / SkynetBranches
			for i := range SkynetBranches {
				s.grow(c, size, m.number+i*size)
			}
		case total:
			sum += m.sum
			if left--; left == 0 {
				report(c, sum)
			}
		}
	}}
}

type tick int

// Timers implements [Contender].
func (u Untyped[C, P]) Timers(r *Run) {
	s := u.local()
	Timers(r, func(all *Tally) P {
		var fired []func()
		return s.Spawn(Actor[C]{Receive: func(c C, message any) {
			switch m := message.(type) {
			case int:
				fired = make([]func(), m)
				for k := range m {
					fired[k] = s.After(c, TimerDelay(k, m), tick(k))
				}
			case tick:
				if f := fired[m]; f != nil {
					f()
				}
				all.Arrived()
			}
		}})
	}, func(to P, timers int) { s.Send(to, timers) })
}
