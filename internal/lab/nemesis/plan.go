package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A Kind is a way to torment nodes.
type Kind string

// The kinds of faults.
const (
	Partition Kind = "partition" // two sides do not hear each other
	Unplug    Kind = "unplug"    // one node's link is down
	Mute      Kind = "mute"      // what one side says does not reach the other
	Slow      Kind = "slow"      // what some nodes send takes its time
	Lose      Kind = "lose"      // a share of what some nodes send and are sent is lost
	NoTCP     Kind = "no tcp"    // all of TCP that some nodes send and are sent is lost
	NoUDP     Kind = "no udp"    // all datagrams that some nodes send and are sent are lost
	Pause     Kind = "pause"     // SIGSTOP, later SIGCONT
	Kill      Kind = "kill"      // SIGKILL, and started again later
	Leave     Kind = "leave"     // in good order, and started again later
	KillAll   Kind = "kill all"  // all at once, and started again later
	NoStore   Kind = "no store"  // the lease store is out of reach for all
	Steal     Kind = "steal"     // the lease is another's
)

// A Fault is what is done to some nodes for a while.
type Fault struct {
	Kind Kind
	// Targets are indices of nodes. For cuts they are one side, the others the other.
	Targets []int
	// Host puts the node that hosts the ledger in the place of the first target, and that,
	// where it was a target too, in its.
	Host    bool
	Percent int // of what is lost
	For     time.Duration
}

// disturbs reports whether the network is not as it should be for the while.
func (f Fault) disturbs() bool {
	switch f.Kind {
	case Partition, Unplug, Mute, Slow, Lose, NoTCP, NoUDP:
		return true
	case Pause, Kill, Leave, KillAll, NoStore, Steal:
	}
	return false
}

// splits reports whether nodes are on one side of a cut or on the other, and nothing else
// is the matter.
func (f Fault) splits() bool { return f.Kind == Partition || f.Kind == Unplug }

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

// A Round is one or two faults, the second in the midst of the first, and what comes
// after them: everything is mended, and the cluster is given the time to settle, or a
// short rest only.
type Round struct {
	Calm   bool // it begins when the cluster has settled
	Faults []Fault
	Gap    time.Duration // between the first and the second
	Settle bool
	Rest   time.Duration
}

// plan returns a function that draws round after round; the same seed draws the same.
func plan(seed uint64, nodes int, can func(Kind) bool) func() Round {
	d := dice{rand.New(rand.NewPCG(seed, uint64(nodes))), nodes, can}
	var n int
	return func() Round {
		n++
		if n%3 == 1 {
			return d.plain(measured[n/3%len(measured)])
		}
		return d.round()
	}
}

// measured are the faults of which one in three rounds has one, in turn, that hits the host
// of a cluster that has settled, alone and for long enough to replace it: how long that
// takes is measured.
var measured = []Kind{Kill, Pause, Partition, Leave}

type dice struct {
	*rand.Rand
	nodes int
	can   func(Kind) bool
}

// weights say how often a kind is drawn.
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
		if second.Kind != KillAll && second.disturbs() != r.Faults[0].disturbs() {
			r.Faults, r.Gap = append(r.Faults, second), d.span(0, r.Faults[0].For)
		}
	}
	return r
}

// plain draws a round with one fault for the host.
func (d dice) plain(k Kind) Round {
	f := Fault{Kind: k, Host: true, Targets: []int{d.IntN(d.nodes)}, For: d.span(8*time.Second, 15*time.Second)}
	return Round{Calm: true, Faults: []Fault{f}, Settle: true, Rest: d.span(500*time.Millisecond, 4*time.Second)}
}

// fault draws a fault of a kind that can be done here.
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
	return strings.Join(append(words, "for", f.For.String()), " ")
}
