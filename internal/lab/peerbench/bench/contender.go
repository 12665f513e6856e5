package bench

import "time"

// A Contender runs the scenarios on a library. Its methods call Start and Stop of the run.
type Contender interface {
	// Tell sends r.N messages to one actor, from senders goroutines.
	Tell(r *Run, senders int)
	// PingPong lets pairs of actors send a message back and forth, r.N times in all.
	PingPong(r *Run, pairs int)
	// FanOut sends r.N messages in all to actors in turn, from one goroutine.
	FanOut(r *Run, actors int)
	// Block sends r.N messages in all to [BlockingActors] actors in turn. Each message blocks its
	// handler for [BlockingTime].
	Block(r *Run)
	// Ask asks one actor r.N times in all, from askers goroutines.
	Ask(r *Run, askers int)
	// Spawn spawns r.N actors, and waits until each has started.
	Spawn(r *Run)
	// Idle does the same, and measures the memory in use afterwards.
	Idle(r *Run)
	// SpawnAndStop spawns r.N children of an actor, stops them when all have started, and waits
	// for their ends.
	SpawnAndStop(r *Run)
	// Skynet spawns a tree of actors: each spawns ten, until there are r.N leaves. The numbers of
	// the leaves are added on the way back. An actor ends when it has reported.
	Skynet(r *Run)
	// Timers starts r.N timers of [TimerActors] actors, and waits until all have fired.
	Timers(r *Run)
	// Quiet sends r.N messages to an actor, one at a time and a millisecond apart, beside 64 actors
	// that compute for so long for each message, without end.
	Quiet(r *Run, compute time.Duration)
	// Serve starts a system that other processes reach over TCP, with an adder, which answers
	// numbers, and an actor for each of the sinks, which it calls with the payload of each message.
	// It returns their address.
	Serve(sinks []func(payload []byte)) (address string)
	// Dial connects a system to the actors that Serve has spawned in another process.
	Dial(address string) Connection
}

const (
	// TimerActors is how many actors share the timers.
	TimerActors = 1000
	// BlockingActors is how many actors block at once.
	BlockingActors = 1000
	// BlockingTime is how long a handler blocks.
	BlockingTime = time.Millisecond
	// MostPayload is the size of the largest payload of a remote message, in bytes. An encoded
	// message is a little larger.
	MostPayload = 8_000_000
	payloadSize = 100 // of the usual remote message
)

// Small is the message of the scenarios that tell: a small struct, with the number of the message
// and the number of its sender.
type Small struct{ A, B int }
