package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// The size of a plot, and the space around it.
const (
	plotWidth, plotHeight           = 760, 360
	plotLeft, plotRight             = 70, 90
	plotTop, plotBottom             = 20, 45
	plotInnerWidth, plotInnerHeight = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
)

// The least and the greatest latency of a plot. Its scale is logarithmic.
const (
	plotLeast = 100 * time.Microsecond
	plotMost  = 10 * time.Second
)

// A curve is one line of a plot.
type curve struct {
	name, color string
	of          func(second) time.Duration
}

var curves = []curve{
	{"p50", "#2b7a3d", func(s second) time.Duration { return s.p50 }},
	{"p99", "#c77700", func(s second) time.Duration { return s.p99 }},
	{"p99.9", "#b3261e", func(s second) time.Duration { return s.p999 }},
}

// plot returns the latencies by the second as an SVG image.
func (k kill) plot() string {
	var b strings.Builder
	first, last := k.seconds[0].from, k.seconds[len(k.seconds)-1].from
	x := func(s float64) float64 {
		return plotLeft + (s-float64(first))/math.Max(1, float64(last-first))*plotInnerWidth
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	for d := plotLeast; d <= plotMost; d *= 10 {
		fmt.Fprintf(&b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%v</text>`+"\n",
			plotLeft, height(d), plotWidth-plotRight, height(d), plotLeft-8, height(d)+4, d)
	}
	for s := first - first%5; s <= last; s += 5 {
		if s >= first {
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(float64(s)), plotHeight-plotBottom+18, s)
		}
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">seconds after SIGKILL, when the ask was sent</text>`+"\n", plotLeft+plotInnerWidth/2, plotHeight-8)
	fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#888" stroke-dasharray="4"/>`+"\n", x(-0.5), plotTop, x(-0.5), plotHeight-plotBottom)
	for i, c := range curves {
		var points []string
		for _, s := range k.seconds {
			if c.of(s) > 0 {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x(float64(s.from)), height(c.of(s))))
			}
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n",
			strings.Join(points, " "), c.color, plotWidth-plotRight+12, plotTop+16+18*i, c.color, c.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// height returns the place of a latency on the vertical axis.
func height(d time.Duration) float64 {
	d = min(max(d, plotLeast), plotMost)
	share := math.Log(float64(d)/float64(plotLeast)) / math.Log(float64(plotMost)/float64(plotLeast))
	return plotTop + (1-share)*plotInnerHeight
}
