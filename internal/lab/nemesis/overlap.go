package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/singleton"
)

const (
	// lull is how long a ticker may be silent and still count as running. After a longer silence
	// its process may have been stopped.
	lull = 500 * time.Millisecond

	// starved is how long a ticker must be silent to count as stopped by an overloaded machine,
	// although the harness has not stopped it.
	starved = 2 * time.Second

	// margin is how long after a fault an unfenced instance may still run beside its successor:
	// detection, downing and the time to stop, doubled.
	margin = 40 * time.Second
)

// A Run has the reports of one instance of the ticker.
type Run struct {
	Node       string // and which process of it: other runs of a node are other ones
	Generation singleton.Generation
	Said       []time.Duration // in order
}

// A Disruption is a time in which a node was stopped or, without a node, the network was faulty. A
// healthy cluster that is cut in two is not disrupted.
type Disruption struct {
	Node     string
	From, To time.Duration
}

// An Overlap is a time in which two instances reported that they run.
type Overlap struct {
	A, B     Run
	From, To time.Duration
	Excuse   string // why it is allowed; "" if it is not
}

// String returns how long there were two instances, since when, and where; times are those since
// the start of the run.
func (o Overlap) String() string {
	return fmt.Sprintf("for %v, from %v, generation %v ran on %s and %v on %s",
		o.To-o.From, o.From, o.A.Generation, o.A.Node, o.B.Generation, o.B.Node)
}

// A span is a time from its first to its second element.
type span [2]time.Duration

// awake returns the times in which an instance has given signs of life.
func (r Run) awake() (spans []span) {
	for i, said := range r.Said {
		if i == 0 || said-r.Said[i-1] > lull {
			spans = append(spans, span{said, said})
		}
		spans[len(spans)-1][1] = said
	}
	return spans
}

// lulls returns the times in which it is unknown whether an instance ran.
func (r Run) lulls() (disruptions []Disruption) {
	for i := 1; i < len(r.Said); i++ {
		if r.Said[i]-r.Said[i-1] > starved {
			disruptions = append(disruptions, Disruption{Node: r.Node, From: r.Said[i-1], To: r.Said[i]})
		}
	}
	return disruptions
}

// overlaps returns the times in which two instances have both given signs of life. Those
// that begin within the margin of a disruption of their nodes or of the network are excused.
func overlaps(runs []Run, disruptions []Disruption) (found []Overlap) {
	for i, a := range runs {
		for _, b := range runs[i+1:] {
			o, ok := overlap(a, b)
			if !ok {
				continue
			}
			o.Excuse = excuse(o, slices.Concat(disruptions, a.lulls(), b.lulls()))
			found = append(found, o)
		}
	}
	return found
}

// overlap returns the first time in which both have given signs of life, and the sum of
// all such times as its length.
func overlap(a, b Run) (o Overlap, ok bool) {
	var sum time.Duration
	for _, x := range a.awake() {
		for _, y := range b.awake() {
			from, to := max(x[0], y[0]), min(x[1], y[1])
			if from >= to {
				continue
			}
			if !ok {
				o, ok = Overlap{A: a, B: b, From: from}, true
			}
			sum += to - from
		}
	}
	o.To = o.From + sum
	return o, ok
}

// excuse returns the disruption that may have let both instances run, or "".
func excuse(o Overlap, disruptions []Disruption) (why string) {
	for _, t := range disruptions {
		if t.From > o.To || t.To+margin < o.From {
			continue
		}
		switch t.Node {
		case o.A.Node, o.B.Node:
			return t.Node + " was stopped"
		case "":
			why = "the network was disrupted"
		}
	}
	return why
}

// checkGenerations finds instances whose generation is not greater than the generation of every
// earlier instance. Terms begin again when the whole cluster has been stopped; stops has those
// times, see fullStops.
func checkGenerations(runs []Run, stops []time.Duration) (found []string) {
	runs = slices.Clone(runs)
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.Said[0], b.Said[0]) })
	for i := 1; i < len(runs); i++ {
		a, b := runs[i-1], runs[i]
		restarted := slices.ContainsFunc(stops, func(at time.Duration) bool { return a.Said[0] <= at && at <= b.Said[0] })
		if !restarted && !a.Generation.Less(b.Generation) {
			found = append(found, fmt.Sprintf("generation %v started on %s at %v, and %v on %s at %v",
				a.Generation, a.Node, a.Said[0], b.Generation, b.Node, b.Said[0]))
		}
	}
	return found
}
