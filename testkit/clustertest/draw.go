package clustertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

type drawer struct {
	*rand.Rand
	nodes  []string
	kinds  []Kind
	length time.Duration
}

// Draw returns the schedule for a seed. Equal nodes, faults, length, kinds and seed give the same
// schedule.
func (c Chaos) Draw(seed uint64) Schedule {
	c = c.withDefaults()
	d := drawer{rand.New(rand.NewPCG(seed, 0)), c.names(), c.Kinds, c.Length} //nolint:gosec // it must repeat
	s := make(Schedule, c.Faults)
	for i := range s {
		s[i] = d.fault()
	}
	slices.SortStableFunc(s, func(a, b Fault) int { return int(a.At - b.At) })
	return s
}

func (c Chaos) names() (names []string) {
	for i := range c.Nodes {
		names = append(names, fmt.Sprintf("n%d", i+1))
	}
	return names
}

func (d drawer) fault() Fault {
	f := Fault{At: d.between(0, d.length), Kind: d.kinds[d.IntN(len(d.kinds))], For: d.duration()}
	switch f.Kind {
	case Partition:
		f.Sides = d.sides()
	case OneWay:
		from := d.IntN(len(d.nodes))
		to := (from + 1 + d.IntN(max(1, len(d.nodes)-1))) % len(d.nodes)
		f.Sides = [][]string{{d.nodes[from]}, {d.nodes[to]}}
	case Isolate, Crash, Leave, Pause:
		f.Sides = d.one()
	case Delay:
		f.Time = d.between(10*time.Millisecond, 400*time.Millisecond)
	case Lose:
		f.Amount = d.share(5, 40)
	case Duplicate:
		f.Amount = d.share(5, 100)
	case Drift:
		f.Sides, f.Amount = d.one(), d.share(95, 105)
	case Jump:
		f.Sides, f.Time = d.one(), []time.Duration{-time.Hour, time.Hour}[d.IntN(2)]
	}
	return f
}

func (d drawer) one() [][]string { return [][]string{{d.nodes[d.IntN(len(d.nodes))]}} }

func (d drawer) sides() [][]string {
	nodes := slices.Clone(d.nodes)
	d.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	sides := make([][]string, min(len(nodes), 2+d.IntN(2)))
	for i, name := range nodes {
		at := i
		if i >= len(sides) { // each has one
			at = d.IntN(len(sides))
		}
		sides[at] = append(sides[at], name)
	}
	for _, side := range sides {
		slices.SortFunc(side, byNumber)
	}
	slices.SortFunc(sides, func(a, b []string) int { return byNumber(a[0], b[0]) })
	return sides
}

// Some durations are too short for members to be downed, and some are long enough.
func (d drawer) duration() time.Duration {
	switch d.IntN(3) {
	case 0:
		return d.between(100*time.Millisecond, time.Second)
	case 1:
		return d.between(time.Second, 8*time.Second)
	default:
		return d.between(8*time.Second, 40*time.Second)
	}
}

// The duration is in steps of 10 ms.
func (d drawer) between(least, most time.Duration) time.Duration {
	const step = 10 * time.Millisecond
	return (least + time.Duration(d.Int64N(int64(most-least)+1))).Round(step)
}

// least and most are hundredths.
func (d drawer) share(least, most int) float64 {
	return float64(least+d.IntN(most-least+1)) / 100
}
