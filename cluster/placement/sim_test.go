package placement

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/deadlines"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/simulation"
)

var (
	simSeed  = flag.Uint64("sim.seed", 0, "simulate the schedule of this seed only, and print what happens")
	simFirst = flag.Uint64("sim.first", 1, "the seed of the first schedule")
)

// A planner, a model of the agents, and a cluster whose nodes come, go, crash and return, under
// random faults of the network, of the factories and of the coordinator. See sim.laws for the laws
// that hold at each moment, and sim.final for those that hold in the end.
func TestSimulatedCoordinatorsKeepTheLaws(t *testing.T) {
	if *simSeed != 0 {
		s := newSim(*simSeed, true)
		broken := s.run()
		t.Log(strings.Join(s.log, "\n"))
		require.Empty(t, broken)
		return
	}
	count := effort.Count[uint64](20, 300, 3000)
	found := simulateAll(t, *simFirst, count)
	t.Logf("seeds %d to %d: %+v", *simFirst, *simFirst+count-1, found)
	if count >= 300 {
		require.Empty(t, found.unseen(), "the schedules must reach all of this")
	}
}

// simulateAll runs the schedules of many seeds on all cores. A schedule that breaks a law is shrunk
// to one from which no fault can be left out.
func simulateAll(t *testing.T, first, count uint64) simFound {
	t.Helper()
	var mu sync.Mutex // guards all
	var all simFound
	seed, ok := simulation.Seeds(first, count, func(seed uint64) bool {
		s := newSim(seed, false)
		broken := s.run()
		mu.Lock()
		defer mu.Unlock()
		all.add(s.found)
		return broken == ""
	})
	if !ok {
		t.Fatal(explainBroken(seed, nil))
	}
	return all
}

// explainBroken shrinks the schedule of a seed that breaks a law, and says what happens in it.
// spoil may plant a mistake.
func explainBroken(seed uint64, spoil func(*sim)) string {
	run := func(faults []int, logs bool) *sim {
		s := newSim(seed, logs)
		s.faults = faults
		if spoil != nil {
			spoil(s)
		}
		s.run()
		return s
	}
	smallest := simulation.Shrink(run(nil, false).drawn, func(faults []int) bool { return run(faults, false).broken != "" })
	s := run(smallest, true)
	return fmt.Sprintf("seed %d: %s\nrun all of it by -sim.seed=%d; with the faults %v only:\n%s",
		seed, s.broken, seed, smallest, strings.Join(s.log[max(0, len(s.log)-120):], "\n"))
}

// A sim is one schedule, in virtual time and in one goroutine. What it does depends on the
// seed alone.
type sim struct {
	seed  uint64
	rng   *rand.Rand
	begin time.Time
	now   time.Time
	queue deadlines.Map[uint64]
	todo  map[uint64]func()
	n     uint64
	quiet bool // no more faults

	faults []int // the only faults that happen, by number; nil for all
	drawn  []int // the numbers of all faults

	loss, dup, spike float64 // of messages
	maxAppend        int     // bytes

	nodes      []*simNode // by name; each name has one
	gone       []home.Gone
	journal    []home.Fact
	unfits     map[any]bool // submissions, and whether the journal does not take them
	epoch      uint64
	lead       *simCoordinator // nil while there is no coordinator
	clients    simClients
	singletons *simSingletons
	census     map[string][]*simActor // the living actors, by label
	hung       []*simActor            // whose factories do not come back

	found  simFound
	broken string
	logs   bool
	log    []string
}

func newSim(seed uint64, logs bool) *sim {
	s := &sim{
		seed: seed, rng: rand.New(rand.NewPCG(seed, 2)), logs: logs, //nolint:gosec // a schedule, not a secret
		begin: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), todo: map[uint64]func(){}, census: map[string][]*simActor{},
		unfits: map[any]bool{}, maxAppend: []int{4 << 20, 1, 700}[seed/3%3], // all facts of a step at once, or one or two
	}
	s.now = s.begin
	s.loss, s.dup, s.spike = s.oneOf(0, 0, 0.05, 0.3), s.oneOf(0, 0.1), s.oneOf(0, 0.02, 0.2)
	s.clients = newSimClients(s)
	s.singletons = newSimSingletons(s)
	return s
}

// run runs the schedule. It returns the broken law with details, or nothing if all laws held.
func (s *sim) run() string {
	for i := range 2 + s.rng.IntN(4) {
		s.nodes = append(s.nodes, &simNode{sim: s, name: string(rune('a' + i)), meta: map[string]string{}})
	}
	for _, n := range s.nodes {
		s.in(s.upTo(time.Second), n.boot)
	}
	s.in(time.Second, s.elect)
	faults := 20 + s.rng.IntN(60)
	at := 2 * time.Second
	for n := range faults {
		at += s.upTo(2 * time.Second)
		s.drawn = append(s.drawn, n)
		if s.faults == nil || slices.Contains(s.faults, n) {
			s.in(at, s.fault)
		}
	}
	s.in(at+5*time.Second, s.rest)
	end := at + 5*time.Second + 3*time.Minute
	s.until(s.begin.Add(end))
	if s.broken == "" {
		s.final()
	}
	return s.broken
}

func (s *sim) until(end time.Time) {
	for s.broken == "" {
		at, ok := s.queue.First()
		if !ok || at.After(end) {
			s.now = end
			return
		}
		s.now = at
		for _, n := range s.queue.Pass(at) {
			do := s.todo[n]
			delete(s.todo, n)
			do()
			s.laws()
		}
	}
}

func (s *sim) in(d time.Duration, do func()) {
	s.n++
	s.todo[s.n] = do
	s.queue.Set(s.n, s.now.Add(d))
}

func (s *sim) upTo(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d) + 1)) }

func (s *sim) chance(p float64) bool { return s.rng.Float64() < p }

func (s *sim) oneOf(all ...float64) float64 { return all[s.rng.IntN(len(all))] }

// carry delivers a message: late, twice, not at all, or normally.
func (s *sim) carry(arrive func()) {
	if !s.quiet && s.chance(s.loss) {
		s.found.Lost++
		return
	}
	s.in(s.delay(), arrive)
	if !s.quiet && s.chance(s.dup) {
		s.found.Twice++
		s.in(s.delay(), arrive)
	}
}

func (s *sim) delay() time.Duration {
	if !s.quiet && s.chance(s.spike) {
		return s.upTo(8 * time.Second)
	}
	return time.Millisecond + s.upTo(5*time.Millisecond)
}

func (s *sim) note(format string, args ...any) {
	if s.logs {
		s.log = append(s.log, fmt.Sprintf("%9.3fs ", s.now.Sub(s.begin).Seconds())+fmt.Sprintf(format, args...))
	}
}

func (s *sim) breach(format string, args ...any) {
	if s.broken == "" {
		s.broken = fmt.Sprintf(format, args...)
		s.note("BROKEN: %s", s.broken)
	}
}

// simFound counts what schedules have reached.
type simFound struct {
	Lost, Twice, Parts                                        int // of messages; reports that are not whole
	Crashes, Returns, Removals, Drains, Splits                int // of nodes
	Coordinators, Unstored, Unsent, Fenced                    int
	Torn, Unfit, UnfitAmong                                   int // steps of which a part was stored; submissions that the journal does not take, alone and among others
	Started, Failed, Hung, Ended, Stopped, Moved              int // actors
	Submitted, Refused, Removed, Waited, Forgotten, Colocated int // specs
	Unplaced                                                  int // in the end
	Followed                                                  int // requests to start what is colocated
	SingleStarts, SingleMoves, SingleStops, SingleRefusals    int
	Calls, CallsFailed, CallsLate, CallsSilent                int // of the source
	Launched, Zombies, Ownerless                              int
	Anew                                                      int // actors that have been started anew, or could not be
}
