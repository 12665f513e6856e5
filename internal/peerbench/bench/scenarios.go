package bench

import "math"

// A Contender runs the scenarios on a library. Its methods call Start and Stop of the run.
type Contender interface {
	// Tell has so many goroutines tell one actor r.N messages.
	Tell(r *Run, senders int)
	// PingPong has pairs of actors throw a ball to each other, r.N times together.
	PingPong(r *Run, pairs int)
	// FanOut tells so many actors r.N messages together, in turn, from one goroutine.
	FanOut(r *Run, actors int)
	// Ask has so many goroutines ask one actor, r.N times together.
	Ask(r *Run, askers int)
	// Spawn spawns r.N actors, and waits until each has started.
	Spawn(r *Run)
	// Idle does the same, and looks at what is in use then.
	Idle(r *Run)
	// SpawnAndStop spawns r.N children of an actor, stops them when all have started, and waits
	// for their ends.
	SpawnAndStop(r *Run)
	// Skynet has an actor spawn ten, which spawn ten each, until there are r.N leaves, whose
	// numbers are added on the way back. Who has reported ends.
	Skynet(r *Run)
	// Timers starts r.N timers of [TimerActors] actors, and waits until all have fired.
	Timers(r *Run)
	// RemoteTell tells an actor of another system, over TCP, messages of [PayloadSize] bytes.
	RemoteTell(r *Run)
	// RemoteAsk has so many goroutines ask an actor of another system, over TCP.
	RemoteAsk(r *Run, askers int)
}

const (
	// TimerActors is how many actors share the timers.
	TimerActors = 1000
	// PayloadSize is that of a remote message, in bytes.
	PayloadSize = 100
)

// A Scenario is one table.
type Scenario struct {
	Name string
	What string
	n    int // operations; a power of ten for skynet
	run  func(c Contender, r *Run)
}

// Skynet is the scenario whose operations have to be a power of ten.
const skynet = "skynet"

// Scenarios are all there are.
var Scenarios = []Scenario{
	{"tell-1", "tell, 1→1, ns", 5_000_000, func(c Contender, r *Run) { c.Tell(r, 1) }},
	{"tell-8", "tell, 8→1, ns", 5_000_000, func(c Contender, r *Run) { c.Tell(r, 8) }},
	{"fan-out", "fan-out to 1000, ns", 5_000_000, func(c Contender, r *Run) { c.FanOut(r, 1000) }},
	{"ping-pong-1", "ping-pong, 1 pair, ns per message", 2_000_000, func(c Contender, r *Run) { c.PingPong(r, 1) }},
	{"ping-pong-64", "ping-pong, 64 pairs, ns per message", 4_000_000, func(c Contender, r *Run) { c.PingPong(r, 64) }},
	{"ask-1", "ask, sequential, ns", 500_000, func(c Contender, r *Run) { c.Ask(r, 1) }},
	{"ask-64", "ask, 64 at once, ns per ask", 1_000_000, func(c Contender, r *Run) { c.Ask(r, 64) }},
	{"spawn", "spawn, ns", 100_000, func(c Contender, r *Run) { c.Spawn(r) }},
	{"spawn-stop", "spawn and stop, ns", 100_000, func(c Contender, r *Run) { c.SpawnAndStop(r) }},
	{"idle", "idle actor, bytes in use", 100_000, func(c Contender, r *Run) { c.Idle(r) }},
	{skynet, "skynet, 10⁶ leaves, ns per leaf", 1_000_000, func(c Contender, r *Run) { c.Skynet(r) }},
	{"timers", "100,000 timers, ns of processor time per timer", 100_000, func(c Contender, r *Run) { c.Timers(r) }},
	{"remote-tell", "remote tell, 100 bytes, ns", 1_000_000, func(c Contender, r *Run) { c.RemoteTell(r) }},
	{"remote-ask-1", "remote ask, sequential, ns", 20_000, func(c Contender, r *Run) { c.RemoteAsk(r, 1) }},
	{"remote-ask-64", "remote ask, 64 at once, ns per ask", 200_000, func(c Contender, r *Run) { c.RemoteAsk(r, 64) }},
}

// Scaled returns how many operations there are at a scale: for skynet, a power of ten.
func (s Scenario) Scaled(scale float64) int {
	n := max(float64(s.n)*scale, 1)
	if s.Name == skynet {
		return int(math.Pow10(int(math.Log10(n))))
	}
	return int(n)
}

// scenario returns the one of that name, or nil.
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
