package bench

import (
	"math"
	"time"
)

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
	// RemoteTell sends messages of [PayloadSize] bytes to an actor of another system, over TCP.
	RemoteTell(r *Run)
	// RemoteAsk asks an actor of another system over TCP, from askers goroutines.
	RemoteAsk(r *Run, askers int)
}

const (
	// TimerActors is how many actors share the timers.
	TimerActors = 1000
	// BlockingActors is how many actors block at once.
	BlockingActors = 1000
	// BlockingTime is how long a handler blocks.
	BlockingTime = time.Millisecond
	// PayloadSize is the size of the payload of a remote message, in bytes.
	PayloadSize = 100
)

// A Scenario is one table.
type Scenario struct {
	Name string
	What string
	n    int // operations; a power of ten for skynet
	run  func(c Contender, r *Run)
	// Steady scenarios keep their size in a quick run, because their figures depend on it.
	Steady bool
	// Goal is the intended ratio of the best peer's figure to ours; 0 means no goal.
	Goal float64
	// Limit is the upper bound of our figure, whatever the figures of peers; 0 means no limit.
	Limit float64
}

// Skynet is the scenario whose operations have to be a power of ten.
const skynet = "skynet"

// Scenarios are all scenarios.
var Scenarios = []Scenario{
	{Name: "tell-1", What: "tell, 1→1, ns", n: 5_000_000, run: func(c Contender, r *Run) { c.Tell(r, 1) }, Goal: 3.5},
	{Name: "tell-8", What: "tell, 8→1, ns", n: 5_000_000, run: func(c Contender, r *Run) { c.Tell(r, 8) }, Goal: 2.5},
	{Name: "fan-out", What: "fan-out to 1000, ns", n: 5_000_000, run: func(c Contender, r *Run) { c.FanOut(r, 1000) }, Goal: 4},
	{Name: "blocking", What: "1000 handlers that block for 1 ms, ns per message", n: 100_000, run: func(c Contender, r *Run) { c.Block(r) }},
	{Name: "ping-pong-1", What: "ping-pong, 1 pair, ns per message", n: 2_000_000, run: func(c Contender, r *Run) { c.PingPong(r, 1) }, Goal: 2},
	{Name: "ping-pong-64", What: "ping-pong, 64 pairs, ns per message", n: 4_000_000, run: func(c Contender, r *Run) { c.PingPong(r, 64) }, Goal: 2},
	{Name: "ask-1", What: "ask, sequential, ns", n: 500_000, run: func(c Contender, r *Run) { c.Ask(r, 1) }, Goal: 2.5},
	{Name: "ask-64", What: "ask, 64 at once, ns per ask", n: 1_000_000, run: func(c Contender, r *Run) { c.Ask(r, 64) }, Goal: 1.5},
	{Name: "spawn", What: "spawn, ns", n: 100_000, run: func(c Contender, r *Run) { c.Spawn(r) }, Goal: 4},
	{Name: "spawn-stop", What: "spawn and stop, ns", n: 100_000, run: func(c Contender, r *Run) { c.SpawnAndStop(r) }},
	{Name: "idle", What: "idle actor, bytes in use", n: 100_000, run: func(c Contender, r *Run) { c.Idle(r) }, Steady: true, Limit: 500},
	{Name: skynet, What: "skynet, 10⁶ leaves, ns per leaf", n: 1_000_000, run: func(c Contender, r *Run) { c.Skynet(r) }, Steady: true, Goal: 4},
	{Name: "timers", What: "100,000 timers, ns of processor time per timer", n: 100_000, run: func(c Contender, r *Run) { c.Timers(r) }},
	{Name: "remote-tell", What: "remote tell, 100 bytes, ns", n: 1_000_000, run: func(c Contender, r *Run) { c.RemoteTell(r) }},
	{Name: "remote-ask-1", What: "remote ask, sequential, ns", n: 20_000, run: func(c Contender, r *Run) { c.RemoteAsk(r, 1) }},
	{Name: "remote-ask-64", What: "remote ask, 64 at once, ns per ask", n: 200_000, run: func(c Contender, r *Run) { c.RemoteAsk(r, 64) }},
}

// Scaled returns how many operations there are at a scale: for skynet, a power of ten.
func (s Scenario) Scaled(scale float64) int {
	n := max(float64(s.n)*scale, 1)
	if s.Name == skynet {
		return int(math.Pow10(int(math.Log10(n))))
	}
	return int(n)
}

// scenario returns the scenario of that name, or nil.
func scenario(name string) *Scenario {
	for i, s := range Scenarios {
		if s.Name == name {
			return &Scenarios[i]
		}
	}
	return nil
}

// Small is the message of the scenarios that tell: a small struct.
type Small struct{ A, B int }
