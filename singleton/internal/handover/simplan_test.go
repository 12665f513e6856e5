package handover

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/simulation"
)

// A simPlan is all that one run depends on. It is drawn before the run, so that faults
// can be left out.
type simPlan struct {
	seed     uint64
	mode     simMode
	nodes    int
	byAge    bool          // order of election: by age or by address
	loss     float64       // of datagrams, until all is well; some come twice, too
	lag      time.Duration // by which what a node knows may be ahead of what its machine does
	drift    float64       // by which share clocks differ in rate, at most
	buffer   int
	graceful bool          // nodes only leave, some at once: no message may be lost
	careless bool          // a planted mistake: there is no margin, and a lease counts for all of its TTL
	sourced  bool          // terms come from a source
	late     bool          // what the lease store answers may reach a machine after it was lost again
	finish   time.Duration // the singleton finishes after that; 0: it does not
	atStop   bool          // it does when it is told to stop
	faults   []simFault
}

// A simMode is what protects the instance.
type simMode string

const (
	simNone   simMode = "none"
	simFenced simMode = "fenced"
	simLeased simMode = "leased"
	simBoth   simMode = "both"
)

func (m simMode) fenced() bool { return m == simFenced || m == simBoth }
func (m simMode) leased() bool { return m == simLeased || m == simBoth }

// A simFault is one thing that goes wrong.
type simFault struct {
	kind  simFaultKind
	after time.Duration // the one before
	lasts time.Duration // or how long until the process is started again
	node  int
	host  bool // instead of that node, where the instance runs then
	side  uint // of a split: the side of each node
}

type simFaultKind string

const (
	simSplit   simFaultKind = "split"
	simIsolate simFaultKind = "cut off"
	simDeafen  simFaultKind = "cut what it hears"
	simMute    simFaultKind = "cut what it says"
	simPause   simFaultKind = "pause"
	simCrash   simFaultKind = "crash"
	simLeave   simFaultKind = "leave"
	simSlow    simFaultKind = "delay everything"
	simOutage  simFaultKind = "outage of the stores"
	simUnstore simFaultKind = "cut off from the stores"
	simStopAll simFaultKind = "stop everything"
)

var simFaultKinds = []simFaultKind{
	simSplit, simSplit, simIsolate, simIsolate, simDeafen, simMute, simPause, simPause, simPause, simCrash, simCrash, simCrash,
	simLeave, simLeave, simLeave, simSlow, simOutage, simUnstore, simStopAll,
}

// drawSim draws the plan of a seed; nodes is 0 for any number.
func drawSim(seed uint64, mode simMode, nodes int) simPlan {
	random := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a schedule, not a secret
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	p := simPlan{
		seed: seed, mode: mode, nodes: nodes, byAge: random.IntN(2) == 0, drift: 0.01,
		loss:   []float64{0, 0, 0.1, 0.3}[random.IntN(4)],
		lag:    []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond}[random.IntN(3)],
		buffer: []int{1000, 1000, 3, 0}[random.IntN(4)],
	}
	if n := []int{2, 3, 3, 4, 5, 5, 7}[random.IntN(7)]; nodes == 0 { // drawn anyhow, so that a seed can be played again
		p.nodes = n
	}
	if random.IntN(8) == 0 {
		p.drift = 0.25
	}
	p.graceful = random.IntN(8) == 0
	if p.graceful {
		p.loss, p.buffer, p.lag = 0, 1000, min(p.lag, 100*time.Millisecond)
	}
	for range 1 + random.IntN(8) {
		f := simFault{
			kind: simFaultKinds[random.IntN(len(simFaultKinds))], node: random.IntN(p.nodes), host: random.IntN(2) == 0,
			after: upTo(6 * time.Second), lasts: 100*time.Millisecond + upTo(10*time.Second), side: uint(random.Uint64()),
		}
		switch {
		case p.graceful:
			f.kind = simLeave
			f.lasts = time.Second + upTo(2*time.Second)
			f.after = 8*time.Second + upTo(2*time.Second)
			if random.IntN(3) == 0 {
				f.after = upTo(500 * time.Millisecond) // several at once
			}
		case random.IntN(8) == 0:
			f.lasts += upTo(30 * time.Second)
		}
		if !p.graceful && random.IntN(4) == 0 {
			f.after = upTo(100 * time.Millisecond) // several at once
		}
		p.faults = append(p.faults, f)
	}
	p.sourced = random.IntN(3) == 0
	if finishes := random.IntN(6) == 0; finishes && !p.graceful {
		p.finish, p.atStop = time.Second+upTo(20*time.Second), random.IntN(2) == 0
	}
	p.late = random.IntN(3) == 0
	return p
}

// spike is the longest delay of a message, without a fault. When messages to a host that has
// left take longer than the patience with it, what comes back is no longer in order.
func (p simPlan) spike() time.Duration {
	if p.graceful {
		return 200 * time.Millisecond
	}
	return 300 * time.Millisecond
}

// only returns p with those faults, which come when they would have come.
func (p simPlan) only(kept []int) simPlan {
	var faults []simFault
	var later time.Duration
	for i, f := range p.faults {
		if later += f.after; slices.Contains(kept, i) {
			f.after, later = later, 0
			faults = append(faults, f)
		}
	}
	p.faults = faults
	return p
}

// shrink returns a plan that still breaks a law, and from which no fault can be left out.
func (p simPlan) shrink(broken func(simPlan) bool) simPlan {
	all := make([]int, len(p.faults))
	for i := range all {
		all[i] = i
	}
	return p.only(simulation.Shrink(all, func(kept []int) bool { return broken(p.only(kept)) }))
}

func (p simPlan) String() string {
	var b strings.Builder
	order := "address"
	if p.byAge {
		order = "age"
	}
	fmt.Fprintf(&b, "%s, %d nodes by %s, loss %.0f %%, lag %v, drift %.0f %%, buffer %d", p.mode, p.nodes, order, 100*p.loss, p.lag, 100*p.drift, p.buffer)
	if p.sourced {
		b.WriteString(", terms from a source")
	}
	if p.late {
		b.WriteString(", late answers of the lease store")
	}
	if p.finish > 0 {
		fmt.Fprintf(&b, ", finishes after %v", p.finish)
	}
	if p.atStop {
		b.WriteString(" at its stop message")
	}
	for _, f := range p.faults {
		fmt.Fprintf(&b, "\n  after %v: %v", f.after.Round(time.Millisecond), f.text(p.nodes))
	}
	return b.String()
}

func (f simFault) text(nodes int) string {
	who := string(rune('a' + f.node))
	switch {
	case f.kind == simSplit:
		who = ""
		for i := range nodes {
			if f.side>>i&1 == 1 {
				who += string(rune('a' + i))
			}
		}
	case f.kind == simSlow || f.kind == simOutage || f.kind == simStopAll:
		who = ""
	case f.host:
		who = "the host"
	}
	return fmt.Sprintf("%s %s for %v", f.kind, who, f.lasts.Round(time.Millisecond))
}
