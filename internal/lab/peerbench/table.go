package main

import (
	"cmp"
	"fmt"
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
			P999:   median(x.good, func(r bench.Result) time.Duration { return r.P999 }),
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
	state  []string // of the machine and the programs, a sentence each
	rows   []row
	spread bool // with minimum and maximum of the rounds
}

// A row is what all libraries have done in a scenario.
type row struct {
	bench.Scenario
	all map[string]results
}

// String returns the tables in Markdown.
func (t table) String() string {
	var b strings.Builder
	b.WriteString(strings.Join(t.state, " ") + "\n")
	for _, r := range t.rows {
		if !r.Only {
			r.write(&b, t.spread)
			if said := r.verdict(t.rows); said != "" {
				b.WriteString("\n" + said + "\n")
			}
		}
	}
	t.writeGrowth(&b)
	for _, r := range t.rows {
		r.writeFailures(&b)
	}
	return b.String()
}

func (r row) write(b *strings.Builder, spread bool) {
	fmt.Fprintf(b, "\n### %s (`%s`)\n\n", r.What, r.Name)
	header, line := "| library | median |", "|---|--:|"
	for _, c := range r.columns(spread) {
		header += " " + c.title + " |"
		line += "--:|"
	}
	fmt.Fprintf(b, "%s\n%s\n", header, line)
	for _, l := range libraries {
		if x, ok := r.of(l.name); ok {
			r.writeLibrary(b, l, x, spread)
		}
	}
}

func (r row) writeFailures(b *strings.Builder) {
	for _, l := range libraries {
		if x := r.all[l.name]; x.failed != nil {
			fmt.Fprintf(b, "\n`%s`: %s failed in %d of its runs: %s\n", r.Name, l.name, x.failures, oneLine(x.failed))
		}
	}
}

func (r row) writeLibrary(b *strings.Builder, l library, s summary, spread bool) {
	fmt.Fprintf(b, "| %s | %s |", l.name, figure(s.Value))
	for _, c := range r.columns(spread) {
		fmt.Fprintf(b, " %s |", c.of(s))
	}
	b.WriteString("\n")
}

// A column is one that not all tables have, or that is the same in all.
type column struct {
	title string
	of    func(summary) string
}

func (r row) columns(spread bool) (all []column) {
	if spread {
		all = append(all, column{"[min–max]", func(s summary) string { return "[" + figure(s.least) + "–" + figure(s.most) + "]" }})
	}
	all = append(all,
		column{"processor ns", func(s summary) string { return figure(s.CPU) }},
		column{"allocations", func(s summary) string { return fmt.Sprintf("%.2f", s.Allocs) }},
		column{"bytes", func(s summary) string { return fmt.Sprintf("%.0f", s.Bytes) }})
	if r.Size > 0 {
		all = append(all, column{"MB/s", func(s summary) string { return fmt.Sprintf("%.0f", 1000*float64(r.Size)/s.Value) }})
	}
	if r.timed() {
		at := func(title string, of func(summary) time.Duration) column {
			return column{title, func(s summary) string { return of(s).Round(10 * time.Nanosecond).String() }}
		}
		all = append(all,
			at("p50", func(s summary) time.Duration { return s.P50 }),
			at("p99", func(s summary) time.Duration { return s.P99 }),
			at("p99.9", func(s summary) time.Duration { return s.P999 }))
	}
	return append(all, column{"times ours", func(s summary) string { return r.times(s.Value) }})
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
	return ratio(value / ours.Value)
}

func (r row) ours() (summary, bool) { return r.of(libraries[0].name) }

// of returns the figures of a library, if it has run.
func (r row) of(library string) (summary, bool) {
	x := r.all[library]
	if len(x.good) == 0 {
		return summary{}, false
	}
	return x.summary(), true
}

// ratio returns a ratio with two decimals, or with two digits where these say nothing.
func ratio(times float64) string {
	if times < 0.1 {
		return fmt.Sprintf("%.2g", times)
	}
	return fmt.Sprintf("%.2f", times)
}

// figure returns a number with as many digits as its accuracy justifies.
func figure(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
