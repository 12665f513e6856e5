package main

import (
	"fmt"
	"math"
	"time"

	"github.com/understudy-go/understudy/internal/lab/page"
)

// The least and the greatest latency of a plot.
const (
	plotLeast = 100 * time.Microsecond
	plotMost  = 10 * time.Second
)

// plot returns the latencies by the second.
func (k kill) plot() page.Plot {
	first, last := k.seconds[0].from, k.seconds[len(k.seconds)-1].from
	p := page.Plot{
		Title:  "seconds after SIGKILL, when the ask was sent; grey: after it",
		X:      page.Axis{Least: float64(first), Most: float64(last), Text: func(s float64) string { return fmt.Sprint(s) }},
		Y:      page.Axis{Least: float64(plotLeast), Most: float64(plotMost), Log: true, Text: func(d float64) string { return time.Duration(d).String() }},
		Curves: []page.Curve{{Name: "p50"}, {Name: "p99"}, {Name: "p99.9"}},
		Grey:   []float64{-0.5, float64(last)},
	}
	for s := math.Ceil(float64(first)/5) * 5; s <= float64(last); s += 5 {
		p.X.Ticks = append(p.X.Ticks, s)
	}
	for d := plotLeast; d <= plotMost; d *= 10 {
		p.Y.Ticks = append(p.Y.Ticks, float64(d))
	}
	for _, s := range k.seconds {
		for i, took := range []time.Duration{s.p50, s.p99, s.p999} {
			if took > 0 {
				p.Curves[i].Points = append(p.Curves[i].Points, page.Point{X: float64(s.from), Y: float64(took)})
			}
		}
	}
	return p
}
