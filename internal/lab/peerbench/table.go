package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

// results are the results of one library in one scenario.
type results struct {
	good     []bench.Result
	failures int
	failed   error // the last one
}

func (x *results) add(r bench.Result, err error) {
	if err != nil {
		x.failures++
		x.failed = err
		return
	}
	x.good = append(x.good, r)
}

// A summary has the figures of the table for these results.
type summary struct {
	bench.Result // medians of each figure
	least, most  float64
}

func (x results) summary() summary {
	return summary{
		Result: bench.Result{
			Value:  median(x.good, func(r bench.Result) float64 { return r.Value }),
			CPU:    median(x.good, func(r bench.Result) float64 { return r.CPU }),
			Allocs: median(x.good, func(r bench.Result) float64 { return r.Allocs }),
			Bytes:  median(x.good, func(r bench.Result) float64 { return r.Bytes }),
			P50:    median(x.good, func(r bench.Result) time.Duration { return r.P50 }),
			P99:    median(x.good, func(r bench.Result) time.Duration { return r.P99 }),
		},
		least: slices.MinFunc(x.good, byValue).Value,
		most:  slices.MaxFunc(x.good, byValue).Value,
	}
}

func byValue(a, b bench.Result) int { return cmp.Compare(a.Value, b.Value) }

// median returns the middle one, or the mean of the two in the middle.
func median[T float64 | time.Duration](all []bench.Result, of func(bench.Result) T) T {
	values := make([]T, len(all))
	for i, r := range all {
		values[i] = of(r)
	}
	slices.Sort(values)
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return (values[half-1] + values[half]) / 2
}

// A table is what is printed: a section for each scenario.
type table struct {
	rounds int
	rows   []row
}

// A row is what all libraries have done in a scenario.
type row struct {
	bench.Scenario
	all map[string]results
}

func (t table) write(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s/%s, GOMAXPROCS=%d, %d rounds\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), t.rounds)
	for _, r := range t.rows {
		r.write(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (r row) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s (`%s`)\n\n", r.What, r.Name)
	timed := r.timed()
	b.WriteString("| library | median | [min–max] | processor ns | allocations | bytes |")
	if timed {
		b.WriteString(" p50 | p99 |")
	}
	b.WriteString(" times ours |\n|---|--:|--:|--:|--:|--:|")
	if timed {
		b.WriteString("--:|--:|")
	}
	b.WriteString("--:|\n")
	for _, l := range libraries {
		if x, ok := r.all[l.name]; ok {
			r.writeLibrary(b, l, x, timed)
		}
	}
	for _, l := range libraries {
		if x := r.all[l.name]; x.failed != nil {
			fmt.Fprintf(b, "\n%s failed in %d of its runs: %s\n", l.name, x.failures, oneLine(x.failed))
		}
	}
	if best, times := r.bestPeer(); best != "" {
		fmt.Fprintf(b, "\nThe best peer, %s, has %.2f times our figure.%s\n", best, times, r.goal(times))
	}
}

// goal says whether our goal is reached. times is the best peer's figure divided by ours.
func (r row) goal(times float64) string {
	ours, _ := r.ours()
	switch {
	case r.Goal > 0:
		return fmt.Sprintf(" The goal, %.1f times, is %s.", r.Goal, reached(times >= r.Goal))
	case r.Limit > 0:
		return fmt.Sprintf(" The goal, below %.0f, is %s.", r.Limit, reached(ours < r.Limit))
	}
	return ""
}

func reached(yes bool) string {
	if yes {
		return "reached"
	}
	return "not reached"
}

func (r row) writeLibrary(b *strings.Builder, l library, x results, timed bool) {
	if len(x.good) == 0 {
		return
	}
	s := x.summary()
	fmt.Fprintf(b, "| %s | %s | [%s–%s] | %s | %.2f | %.0f |", l.name, figure(s.Value), figure(s.least), figure(s.most), figure(s.CPU), s.Allocs, s.Bytes)
	if timed {
		fmt.Fprintf(b, " %v | %v |", s.P50.Round(10*time.Nanosecond), s.P99.Round(10*time.Nanosecond))
	}
	fmt.Fprintf(b, " %s |\n", r.times(s.Value))
}

// timed tells whether operations were timed by themselves.
func (r row) timed() bool {
	for _, x := range r.all {
		for _, one := range x.good {
			if one.P99 > 0 {
				return true
			}
		}
	}
	return false
}

// times returns value divided by our figure, as a text.
func (r row) times(value float64) string {
	ours, ok := r.ours()
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.2f", value/ours)
}

func (r row) ours() (float64, bool) {
	x := r.all[libraries[0].name]
	if len(x.good) == 0 {
		return 0, false
	}
	return x.summary().Value, true
}

// bestPeer returns the peer with the lowest median.
func (r row) bestPeer() (name string, times float64) {
	ours, ok := r.ours()
	if !ok {
		return "", 0
	}
	for _, l := range libraries {
		x := r.all[l.name]
		if !l.peer || len(x.good) == 0 {
			continue
		}
		if t := x.summary().Value / ours; name == "" || t < times {
			name, times = l.name, t
		}
	}
	return name, times
}

// figure returns a number with as many digits as its accuracy justifies.
func figure(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
