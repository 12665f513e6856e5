package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A Kind is a kind of fault.
type Kind string

// The kinds of faults.
const (
	Partition Kind = "partition" // two sides cannot reach each other
	Unplug    Kind = "unplug"    // one node's link is down
	Mute      Kind = "mute"      // one side cannot reach the other
	Slow      Kind = "slow"      // the packets of some nodes are delayed
	Lose      Kind = "lose"      // a share of the packets from and to some nodes is lost
	NoTCP     Kind = "no tcp"    // all TCP packets from and to some nodes are lost
	NoUDP     Kind = "no udp"    // all datagrams from and to some nodes are lost
	Pause     Kind = "pause"     // SIGSTOP, later SIGCONT
	Kill      Kind = "kill"      // SIGKILL, and started again later
	Leave     Kind = "leave"     // graceful, and started again later
	KillAll   Kind = "kill all"  // all at once, and started again later
	NoStore   Kind = "no store"  // no node can reach the lease store
	Steal     Kind = "steal"     // another owner takes the lease
)

// A Fault affects some nodes for a while.
type Fault struct {
	Kind Kind
	// Targets are indices of nodes. For cuts they are one side, the others the other.
	Targets []int
	// Host makes the node that hosts the ledger the first target. If it was a target already, the
	// two targets change places.
	Host    bool
	Percent int // the share that is lost
	// Change makes the next process of each target a process of the other version. The fault is a
	// Leave, a Kill or a KillAll.
	Change bool
	For    time.Duration
}

// affectsNetwork reports whether the network is faulty during the fault.
func (f Fault) affectsNetwork() bool {
	switch f.Kind {
	case Partition, Unplug, Mute, Slow, Lose, NoTCP, NoUDP:
		return true
	case Pause, Kill, Leave, KillAll, NoStore, Steal:
	}
	return false
}

// splits reports whether the fault only divides the nodes into two sides.
func (f Fault) splits() bool { return f.Kind == Partition || f.Kind == Unplug }

// ends reports whether processes end by the fault.
func (f Fault) ends() bool { return f.Kind == Kill || f.Kind == Leave || f.Kind == KillAll }

// on returns the fault with its targets resolved. host is the node that hosts the singleton, or -1.
func (f Fault) on(host int) Fault {
	if !f.Host || host < 0 {
		return f
	}
	targets := []int{host}
	for _, t := range f.Targets[1:] {
		if t == host {
			t = f.Targets[0]
		}
		targets = append(targets, t)
	}
	f.Targets = targets
	return f
}

// A Round has one or two faults, the second during the first. Afterwards everything is repaired,
// and the cluster gets the time to settle, or only a short rest.
type Round struct {
	Stable bool // the round begins when the cluster has settled
	Faults []Fault
	Gap    time.Duration // between the first and the second
	Settle bool
	Rest   time.Duration
}

// plan returns a function that draws one round after the other. The same seed draws the same
// rounds. mixed says that there is another version.
func plan(seed uint64, nodes int, can func(Kind) bool, mixed bool) func() Round {
	d := dice{rand.New(rand.NewPCG(seed, uint64(nodes))), nodes, can, mixed}
	var n int
	return func() Round {
		n++
		if n%3 == 1 {
			return d.plain(measured[n/3%len(measured)])
		}
		return d.round()
	}
}

// measured are the faults of every third round, in turn. Such a fault hits only the host of a
// settled cluster, for long enough to replace it. The time until it is replaced is measured.
var measured = []Kind{Kill, Pause, Partition, Leave}

type dice struct {
	*rand.Rand
	nodes int
	can   func(Kind) bool
	mixed bool
}

// weights are the relative frequencies of the kinds.
var weights = []struct {
	kind   Kind
	weight int
}{
	{Partition, 5},
	{Unplug, 2},
	{Mute, 3},
	{Slow, 2},
	{Lose, 2},
	{NoTCP, 2},
	{NoUDP, 2},
	{Pause, 4},
	{Kill, 5},
	{Leave, 2},
	{KillAll, 1},
	{NoStore, 2},
	{Steal, 1},
}

// total is the sum of all weights.
func total() (sum int) {
	for _, w := range weights {
		sum += w.weight
	}
	return sum
}

func (d dice) round() Round {
	r := Round{Faults: []Fault{d.fault()}, Settle: d.chance(75), Rest: d.span(500*time.Millisecond, 4*time.Second)}
	if r.Faults[0].Kind != KillAll && d.chance(25) {
		second := d.fault()
		if second.Kind != KillAll && second.affectsNetwork() != r.Faults[0].affectsNetwork() {
			r.Faults, r.Gap = append(r.Faults, second), d.span(0, r.Faults[0].For)
		}
	}
	return r
}

// plain draws a round with one fault for the host.
func (d dice) plain(k Kind) Round {
	f := Fault{Kind: k, Host: true, Targets: []int{d.IntN(d.nodes)}, For: d.span(8*time.Second, 15*time.Second)}
	f.Change = d.mixed && f.ends()
	return Round{Stable: true, Faults: []Fault{f}, Settle: true, Rest: d.span(500*time.Millisecond, 4*time.Second)}
}

// fault draws a fault of a kind that this machine supports.
func (d dice) fault() Fault {
	for {
		n := d.IntN(total())
		for _, w := range weights {
			if n -= w.weight; n < 0 {
				if d.can(w.kind) {
					return d.of(w.kind)
				}
				break
			}
		}
	}
}

// of draws a fault of a kind.
func (d dice) of(k Kind) Fault {
	f := Fault{Kind: k, Host: d.chance(60), For: d.span(time.Second, 30*time.Second)}
	count := 1
	switch k {
	case Partition, Mute, NoTCP:
		count = 1 + d.IntN(d.nodes-1)
	case Slow, Lose, NoUDP:
		count = 1 + d.IntN(d.nodes)
		f.Percent = 1 + d.IntN(10)
	case Pause:
		f.For = d.span(200*time.Millisecond, 30*time.Second)
	case Kill:
		count = 1 + d.IntN(2)
		f.For = d.span(100*time.Millisecond, 20*time.Second)
	case Leave:
		f.For = d.span(100*time.Millisecond, 10*time.Second)
	case KillAll:
		count, f.For = d.nodes, d.span(100*time.Millisecond, 3*time.Second)
	case NoStore, Steal:
		f.Host, count = false, 0
	case Unplug:
	}
	f.Targets = d.Perm(d.nodes)[:count]
	f.Change = d.mixed && f.ends() && d.chance(50)
	return f
}

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// span draws a time, short ones more often than long ones.
func (d dice) span(least, most time.Duration) time.Duration {
	share := d.Float64()
	return least + time.Duration(share*share*float64(most-least)).Round(time.Millisecond)
}

// describe returns the fault in words; name names nodes.
func (f Fault) describe(name func(int) string) string {
	words := []string{string(f.Kind)}
	for _, t := range f.Targets {
		words = append(words, name(t))
	}
	if f.Kind == Lose {
		words = append(words, fmt.Sprintf("%d%%", f.Percent))
	}
	words = append(words, "for", f.For.String())
	if f.Change {
		words = append(words, "and change the version")
	}
	return strings.Join(words, " ")
}
