package bench

import (
	"fmt"
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
	// Quiet sends r.N messages to an actor, one at a time and a millisecond apart, beside 64 actors
	// that compute for so long for each message, without end.
	Quiet(r *Run, compute time.Duration)
	// Serve starts a system that other processes reach over TCP, with two actors: a sink, which
	// calls got with the payload of each message, and an adder, which answers numbers. It returns
	// their address.
	Serve(got func(payload []byte)) (address string)
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

// A Scenario is one table.
type Scenario struct {
	Name string
	What string
	n    int // operations; a power of ten for skynet
	run  func(c Contender, r *Run)
	// Steady scenarios keep their size in a quick run, because their figures depend on it.
	Steady bool
	// Size is how many bytes each message has, where throughput counts; else 0.
	Size int
	// Goal is the intended ratio of the best peer's figure to ours; 0 means no goal.
	Goal float64
	// Limit is the upper bound of our figure, whatever the figures of peers; 0 means no limit.
	Limit float64
	// Share is the intended throughput as a part of what bare TCP with a codec has; 0 means
	// no goal.
	Share float64
	// Elsewhere are the figures of peers that this module cannot depend on.
	Elsewhere []Figure
}

// A Figure was measured elsewhere, in another run of the same scenario.
type Figure struct {
	Library string
	Value   float64
	// Leads means that no other peer was better there.
	Leads bool
}

// The peers that the module proxy does not have.
const (
	Goakt = "goakt"
	Ergo  = "ergo"
)

// Versions are what was measured elsewhere.
var Versions = map[string]string{Goakt: "a snapshot after v4.4.3", Ergo: "v1.999.310"}

// Skynet is the scenario whose operations have to be a power of ten.
const skynet = "skynet"

// Scenarios are all scenarios.
var Scenarios = []Scenario{
	{
		Name: "tell-1", What: "tell, 1→1, ns", n: 5_000_000, run: func(c Contender, r *Run) { c.Tell(r, 1) },
		Goal: 3.5, Elsewhere: behind(163, 300),
	},
	{
		Name: "tell-8", What: "tell, 8→1, ns", n: 5_000_000, run: func(c Contender, r *Run) { c.Tell(r, mostSenders) },
		Goal: 2.5, Elsewhere: behind(214, 282),
	},
	{
		Name: "fan-out", What: "fan-out to 1000, ns", n: 5_000_000, run: func(c Contender, r *Run) { c.FanOut(r, 1000) },
		Goal: 4, Elsewhere: goaktLeads(245, 901),
	},
	{Name: "blocking", What: "1000 handlers that block for 1 ms, ns per message", n: 100_000, run: Contender.Block},
	{
		Name: "ping-pong-1", What: "ping-pong, 1 pair, ns per message", n: 2_000_000, run: func(c Contender, r *Run) { c.PingPong(r, 1) },
		Goal: 2, Elsewhere: goaktLeads(227, 951),
	},
	{
		Name: "ping-pong-64", What: "ping-pong, 64 pairs, ns per message", n: 4_000_000, run: func(c Contender, r *Run) { c.PingPong(r, 64) },
		Goal: 2, Elsewhere: behind(427, 491),
	},
	{
		Name: "ask-1", What: "ask with a deadline, sequential, ns", n: 500_000, run: func(c Contender, r *Run) { c.Ask(r, 1) },
		Goal: 2, Elsewhere: goaktLeads(1291, 2019),
	},
	{
		Name: "ask-64", What: "ask with a deadline, 64 at once, ns per ask", n: 1_000_000, run: func(c Contender, r *Run) { c.Ask(r, 64) },
		Goal: 2, Elsewhere: goaktLeads(730, 775),
	},
	{
		Name: "spawn", What: "spawn, ns", n: 100_000, run: Contender.Spawn,
		Goal: 4, Elsewhere: behind(72_000, 5800),
	},
	{Name: "spawn-stop", What: "spawn and stop, ns", n: 100_000, run: Contender.SpawnAndStop},
	{Name: "idle", What: "idle actor, bytes in use", n: 100_000, run: Contender.Idle, Steady: true, Limit: 500},
	{
		Name: skynet, What: "skynet, 10⁶ leaves, ns per leaf", n: 1_000_000, run: Contender.Skynet, Steady: true,
		Goal: 4, Elsewhere: behind(76_000, 7000),
	},
	{Name: "timers", What: "100,000 timers, ns of processor time per timer", n: 100_000, run: Contender.Timers},
	quiet("quiet-20us", 20*time.Microsecond, 2*time.Millisecond),
	quiet("quiet-1ms", time.Millisecond, 15*time.Millisecond),
	{
		Name: "remote-tell", What: "remote tell, 100 bytes, ns", n: 1_000_000, run: func(c Contender, r *Run) { remoteTell(c, r, payloadSize) },
		Goal: 2, Elsewhere: behind(1279, 1337),
	},
	{
		Name: "remote-ask-1", What: "remote ask with a deadline, sequential, ns", n: 20_000, run: func(c Contender, r *Run) { remoteAsk(c, r, 1) },
		Goal: 1.2, Elsewhere: goaktLeads(90_000, 296_000),
	},
	{
		Name: "remote-ask-64", What: "remote ask with a deadline, 64 at once, ns per ask", n: 200_000, run: func(c Contender, r *Run) { remoteAsk(c, r, 64) },
		Goal: 1.7, Elsewhere: behind(15_900, 9600),
	},
	large("remote-10kB", "10 kB", 10_000, 100_000),
	withShare(large("remote-1MB", "1 MB", 1_000_000, 2000)),
	large("remote-8MB", "8 MB", MostPayload, 250),
	{
		Name: EntityPrefix + "tell", What: "tell to 1000 entities in turn, 100 bytes, ns", n: 1_000_000,
		run: func(c Contender, r *Run) { entityTell(c, r, payloadSize) },
	},
	{
		Name: EntityPrefix + "ask-1", What: "ask an entity with a deadline, sequential, ns", n: 20_000,
		run: func(c Contender, r *Run) { entityAsk(c, r, 1) },
	},
	{
		Name: EntityPrefix + "ask-64", What: "ask an entity with a deadline, 64 at once, ns per ask", n: 200_000,
		run: func(c Contender, r *Run) { entityAsk(c, r, 64) },
	},
	{
		Name: EntityPrefix + "first", What: "first ask of an entity, 64 at once, ns per entity", n: 20_000,
		run: func(c Contender, r *Run) { entityFirst(c, r, 64) },
	},
}

// behind are the figures of goakt and ergo in a scenario that another peer led.
func behind(goakt, ergo float64) []Figure {
	return []Figure{{Library: Goakt, Value: goakt}, {Library: Ergo, Value: ergo}}
}

// goaktLeads are the figures in a scenario that goakt led.
func goaktLeads(goakt, ergo float64) []Figure {
	return []Figure{{Library: Goakt, Value: goakt, Leads: true}, {Library: Ergo, Value: ergo}}
}

func quiet(name string, compute, limit time.Duration) Scenario {
	return Scenario{
		Name: name, What: fmt.Sprintf("a quiet actor beside 64 that compute for %v, p99 from tell to handler, ns", compute),
		n: 1000, run: func(c Contender, r *Run) { c.Quiet(r, compute) }, Limit: float64(limit.Nanoseconds()),
	}
}

func large(name, size string, bytes, n int) Scenario {
	return Scenario{
		Name: name, What: fmt.Sprintf("remote tell, %s, ns", size),
		n: n, run: func(c Contender, r *Run) { remoteTell(c, r, bytes) }, Size: bytes,
	}
}

func withShare(s Scenario) Scenario {
	s.Share = 0.6
	return s
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

// Small is the message of the scenarios that tell: a small struct, with the number of the message
// and the number of its sender.
type Small struct{ A, B int }
