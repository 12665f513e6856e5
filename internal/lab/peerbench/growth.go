package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/lab/page"
)

// plotName is the file of the plot of growth, beside the page.
const plotName = "performance-growth.svg"

// growth returns the rows in which something grows, the smaller before the larger.
func (t table) growth() (all []row) {
	var first []string
	for _, r := range t.rows {
		if r.Grows != "" {
			all, first = append(all, r), append(first, r.Grows)
		}
	}
	slices.SortStableFunc(all, func(a, b row) int {
		return cmp.Or(cmp.Compare(slices.Index(first, a.Grows), slices.Index(first, b.Grows)), cmp.Compare(a.Many, b.Many))
	})
	return all
}

// writeGrowth writes one table with a line for each size. Its columns are the libraries that have
// run a scenario that is only there.
func (t table) writeGrowth(b *strings.Builder) {
	all := t.growth()
	shown := slices.DeleteFunc(slices.Clone(libraries), func(l library) bool {
		return !slices.ContainsFunc(all, func(r row) bool { return r.Only && len(r.all[l.name].good) > 0 })
	})
	if len(shown) == 0 {
		return
	}
	b.WriteString("\n### Growth, ns per operation\n\n")
	if !t.spread {
		fmt.Fprintf(b, "![ns per operation of understudy, by how many there are](%s)\n\n", plotName)
	}
	b.WriteString("| | how many |")
	for _, l := range shown {
		b.WriteString(" " + l.name + " |")
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("--:|", len(shown)) + "\n")
	for i, r := range all {
		what := r.Grows
		if i > 0 && all[i-1].Grows == what {
			what = ""
		}
		fmt.Fprintf(b, "| %s | %d |", what, r.Many)
		for _, l := range shown {
			if x, ok := r.of(l.name); ok {
				b.WriteString(" " + figure(x.Value))
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
}

// plot draws our figures of the table of growth.
func (t table) plot() page.Plot {
	p := page.Plot{
		Title: "how many, and ns per operation",
		X:     decades(1, 1_000_000, func(many float64) string { return fmt.Sprintf("%.0f", many) }),
		Y:     decades(10, 1_000_000, func(ns float64) string { return time.Duration(ns).String() }),
	}
	for _, r := range t.growth() {
		x, ok := r.ours()
		if !ok {
			continue
		}
		last := len(p.Curves) - 1
		if last < 0 || p.Curves[last].Name != r.Grows {
			p.Curves, last = append(p.Curves, page.Curve{Name: r.Grows}), last+1
		}
		p.Curves[last].Points = append(p.Curves[last].Points, page.Point{X: float64(r.Many), Y: x.Value})
	}
	return p
}

func decades(least, most float64, text func(float64) string) page.Axis {
	a := page.Axis{Least: least, Most: most, Log: true, Text: text}
	for tick := least; tick <= most; tick *= 10 {
		a.Ticks = append(a.Ticks, math.Round(tick))
	}
	return a
}
