package bench

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Scenario is one table, or a row of the table of growth.
type Scenario struct {
	Name string
	What string
	n    int // operations; a power of ten for skynet
	run  func(c Contender, r *Run)
	// Steady scenarios keep their size in a quick run, because their figures depend on it.
	Steady bool
	// Size is how many bytes each message has, where throughput counts; else 0.
	Size int

	loaded bool // a process beside it takes half of the processors' time
	apart  bool // each process has a processor of its own, see apart

	// Goal and GoalP99 are the intended ratios of the best peer's median and p99 to ours; 0 means
	// no goal.
	Goal, GoalP99 float64
	// Limit is the upper bound of our figure, whatever the figures of peers; 0 means no limit.
	Limit float64
	// Bare is how many times the figure of channels ours may be; 0 means no goal.
	Bare float64
	// Share is the intended throughput as a part of what bare TCP with a codec has; 0 means
	// no goal.
	Share float64
	// Plain names the scenario with a plain actor, Most says how many times its figure ours may be.
	Plain string
	Most  float64

	// Grows names what grows, and Many says how many of it there are. Only means that the scenario
	// is in no other table.
	Grows string
	Many  int
	Only  bool
}

// The peers that the module proxy does not have.
const (
	Goakt = "goakt"
	Ergo  = "ergo"
)

// Skynet is the scenario whose operations have to be a power of ten.
const skynet = "skynet"

// What grows, after what is measured.
const (
	fannedOut = "fan-out, actors"
	pairs     = "ping-pong, pairs"
	atOnce    = "asks at once"
	atOnceFar = "remote asks at once"
	told      = "remote tell, actors"

	acrossMany = "64 remote asks, processes"
	overMany   = "64 remote asks, connections"
	toldByID   = "remote tell, entities"
)

// Scenarios are all scenarios.
var Scenarios = slices.Concat(local, loaded(asks...), remote, []Scenario{onTheirOwn(remoteAsks[0])}, loaded(remoteAsks...), byID, growth)

var local = slices.Concat([]Scenario{
	{Name: "tell-1", What: "tell, 1→1, ns", n: 5_000_000, run: func(c Contender, r *Run) { c.Tell(r, 1) }, Goal: 3.5},
	{Name: "tell-8", What: "tell, 8→1, ns", n: 5_000_000, run: func(c Contender, r *Run) { c.Tell(r, mostSenders) }, Goal: 2.5},
	withGoal(4, fanOut("fan-out", 1000)),
	{Name: "blocking", What: "1000 handlers that block for 1 ms, ns per message", n: 100_000, run: Contender.Block, Goal: 1.2},
	withGoal(2.5, pingPong(1)),
	withGoal(2, pingPong(64)),
}, asks, []Scenario{
	{Name: "spawn", What: "spawn, ns", n: 100_000, run: Contender.Spawn, Goal: 4},
	{Name: "spawn-stop", What: "spawn and stop, ns", n: 100_000, run: Contender.SpawnAndStop},
	{Name: "idle", What: "idle actor, bytes in use", n: 100_000, run: Contender.Idle, Steady: true, Limit: 500},
	{Name: skynet, What: "skynet, 10⁶ leaves (10⁵ at scales below 1), ns per leaf", n: 1_000_000, run: Contender.Skynet, Steady: true, Goal: 4},
	{Name: "timers", What: "100,000 timers, ns of processor time per timer", n: 100_000, run: Contender.Timers},
	quiet("quiet-20us", 20*time.Microsecond, 2*time.Millisecond),
	quiet("quiet-1ms", time.Millisecond, 15*time.Millisecond),
})

var asks = []Scenario{
	withGoals(2, 1.5, ask(1)),
	withGoal(2.5, ask(64)),
}

var remote = slices.Concat([]Scenario{withGoal(2, remoteTellTo("remote-tell", 1))}, remoteAsks, []Scenario{
	large("remote-10kB", "10 kB", 10_000, 100_000),
	withShare(0.6, withGoal(1.5, large("remote-1MB", "1 MB", 1_000_000, 2000))),
	large("remote-8MB", "8 MB", MostPayload, 250),
})

var remoteAsks = []Scenario{
	withBare(1.3, withGoals(1.2, 1.2, remoteAskOf(1))),
	withGoal(1.7, remoteAskOf(64)),
}

var byID = []Scenario{
	beside(1.25, "remote-tell", entitiesTold(EntityWord+"-tell", awakeEntities)),
	beside(1.25, "remote-ask-1", Scenario{
		Name: EntityWord + "-ask-1", What: "ask an entity with a deadline, sequential, ns", n: 50_000,
		run: func(c Contender, r *Run) { entityAsk(c, r, 1) },
	}),
	beside(1.25, "remote-ask-64", Scenario{
		Name: EntityWord + "-ask-64", What: "ask an entity with a deadline, 64 at once, ns per ask", n: 200_000,
		run: func(c Contender, r *Run) { entityAsk(c, r, 64) },
	}),
	{
		Name: EntityWord + "-first", What: "first ask of an entity, 64 at once, ns per entity", n: 20_000,
		run: func(c Contender, r *Run) { entityFirst(c, r, 64) },
	},
	beside(3, "fan-out", Scenario{
		Name: "local-" + EntityWord + "-tell", What: "tell to 1000 entities of the same node in turn, ns", n: 2_000_000, run: entityTellHere,
	}),
	beside(1.25, "ask-1", Scenario{
		Name: "local-" + EntityWord + "-ask-1", What: "ask an entity of the same node with a deadline, sequential, ns", n: 500_000, run: entityAskHere,
	}),
	beside(1.25, "remote-tell", Scenario{
		Name: SingletonPrefix + "tell", What: "tell to a singleton of another node, 100 bytes, ns", n: 1_000_000, run: singletonTell,
	}),
	beside(1.25, "remote-ask-1", Scenario{
		Name: SingletonPrefix + "ask-1", What: "ask a singleton of another node with a deadline, sequential, ns", n: 50_000, run: singletonAsk,
	}),
}

var growth = only(
	fanOut("fan-out-10000", 10_000), fanOut(Million, 1_000_000),
	pingPong(640), pingPong(6400),
	ask(640), ask(6400),
	remoteTellTo("remote-tell-10", 10), remoteTellTo("remote-tell-1000", 1000),
	remoteAskOf(640), remoteAskOf(6400),
	entitiesTold(EntityWord+"-tell-10000", 10_000), entitiesTold(Awake, 100_000),
	acrossNodes(2), acrossNodes(5), acrossNodes(9),
	overConnections(1), overConnections(10), overConnections(100),
)

// The scenarios that are too large for some libraries.
const (
	Million = "fan-out-1000000"
	Awake   = EntityWord + "-tell-100000"
)

func fanOut(name string, actors int) Scenario {
	return Scenario{
		Name: name, What: fmt.Sprintf("fan-out to %d, ns", actors), n: max(5_000_000, 10*actors), run: func(c Contender, r *Run) { c.FanOut(r, actors) },
		Grows: fannedOut, Many: actors,
	}
}

func pingPong(many int) Scenario {
	return Scenario{
		Name: fmt.Sprint("ping-pong-", many), What: fmt.Sprint("ping-pong, pairs: ", many, ", ns per message"), n: 4_000_000, run: func(c Contender, r *Run) { c.PingPong(r, many) },
		Grows: pairs, Many: many,
	}
}

func ask(askers int) Scenario {
	return Scenario{
		Name: fmt.Sprint("ask-", askers), What: "ask with a deadline, " + togetherOrNot(askers), n: 1_000_000, run: func(c Contender, r *Run) { c.Ask(r, askers) },
		Grows: atOnce, Many: askers,
	}
}

func remoteAskOf(askers int) Scenario {
	n := 200_000
	if askers == 1 {
		n = 50_000
	}
	return Scenario{
		Name: fmt.Sprint("remote-ask-", askers), What: "remote ask with a deadline, " + togetherOrNot(askers), n: n, run: func(c Contender, r *Run) { remoteAsk(c, r, askers) },
		Grows: atOnceFar, Many: askers,
	}
}

func togetherOrNot(askers int) string {
	if askers == 1 {
		return "sequential, ns"
	}
	return fmt.Sprint(askers, " at once, ns per ask")
}

func remoteTellTo(name string, actors int) Scenario {
	return Scenario{
		Name: name, What: "remote tell, 100 bytes, ns", n: 1_000_000, run: func(c Contender, r *Run) { remoteTell(c, r, payloadSize, actors) },
		Grows: told, Many: actors,
	}
}

func entitiesTold(name string, awake int) Scenario {
	return Scenario{
		Name: name, What: fmt.Sprintf("tell to %d entities in turn, 100 bytes, ns", awake), n: 1_000_000, run: func(c Contender, r *Run) { entityTell(c, r, awake) },
		Grows: toldByID, Many: awake,
	}
}

func acrossNodes(nodes int) Scenario {
	return Scenario{
		Name: fmt.Sprint(NodesPrefix, nodes), What: fmt.Sprint("remote ask with a deadline, 64 at once, of ", nodes-1, " other processes in turn, ns per ask"), n: 200_000,
		run: func(c Contender, r *Run) { askNodes(c, r, nodes-1) }, Grows: acrossMany, Many: nodes,
	}
}

func overConnections(many int) Scenario {
	return Scenario{
		Name: fmt.Sprint(ConnectionsPrefix, many), What: fmt.Sprint("remote ask with a deadline, 64 at once, over ", many, " connections, ns per ask"), n: 200_000,
		run: func(c Contender, r *Run) { askOverConnections(c, r, many) }, Grows: overMany, Many: many,
	}
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
		n: n, run: func(c Contender, r *Run) { remoteTell(c, r, bytes, 1) }, Size: bytes,
	}
}

func withGoal(times float64, s Scenario) Scenario { return withGoals(times, 0, s) }

func withGoals(times, p99 float64, s Scenario) Scenario {
	s.Goal, s.GoalP99 = times, p99
	return s
}

func withBare(times float64, s Scenario) Scenario {
	s.Bare = times
	return s
}

func withShare(share float64, s Scenario) Scenario {
	s.Share = share
	return s
}

func beside(times float64, plain string, s Scenario) Scenario {
	s.Plain, s.Most = plain, times
	return s
}

// LoadedSuffix ends the names of the scenarios with a process beside them that takes half of the
// processors' time.
const LoadedSuffix = "-loaded"

// loaded returns the same scenarios beside such a process, which makes them longer, so they have
// half of the operations. They have no goals.
func loaded(all ...Scenario) (beside []Scenario) {
	for _, s := range all {
		beside = append(beside, Scenario{Name: s.Name + LoadedSuffix, What: s.What + ", beside a load of 50 %", n: s.n / 2, run: s.run, loaded: true})
	}
	return beside
}

func onTheirOwn(s Scenario) Scenario {
	s.Name, s.What, s.apart = s.Name+"-apart", s.What+", each process on a processor of its own", true
	s.Grows, s.Many = "", 0
	return s
}

func only(all ...Scenario) []Scenario {
	for i := range all {
		all[i].Only = true
	}
	return all
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
