package main

import (
	"fmt"
	"html"
	"strings"
	"time"
)

// The size of the plot: a band for each opponent, with space around it.
const (
	plotWidth               = 900
	plotLeft, plotRight     = 20, 20
	plotTop, plotBottom     = 46, 44
	bandHeight, bandSpacing = 60, 58
)

// bucket is how long the time is of which one bar counts the acknowledged writes.
const bucket = 500 * time.Millisecond

// plot returns an SVG image of the acknowledged writes over time. Faults are dashed lines; red
// ticks are the rows that are duplicates or that a replaced leader has stored.
func plot(trials []*trial) string {
	var played []*trial
	length := time.Duration(0)
	for _, t := range trials {
		if t.skipped == nil {
			played, length = append(played, t), max(length, t.length)
		}
	}
	height := plotTop + len(played)*(bandHeight+bandSpacing) + plotBottom
	p := &canvas{length: length}
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, height)
	p.printf(`<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, height)
	for i, t := range played {
		p.band(t, plotTop+i*(bandHeight+bandSpacing)+bandHeight)
	}
	p.axis(height - plotBottom)
	p.WriteString("</svg>\n")
	return p.String()
}

// A canvas is an image in the making, as wide as the longest trial.
type canvas struct {
	strings.Builder
	length time.Duration
}

func (p *canvas) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p, format, args...) // a strings.Builder does not fail
}

func (p *canvas) x(d time.Duration) float64 {
	return plotLeft + d.Seconds()/max(1, p.length.Seconds())*(plotWidth-plotLeft-plotRight)
}

// band draws one trial above the line y.
func (p *canvas) band(t *trial, y int) {
	p.printf(`<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", plotLeft, y-bandHeight-28, html.EscapeString(t.title))
	p.printf(`<line x1="%d" y1="%d" x2="%.1f" y2="%d" stroke="#888"/>`+"\n", plotLeft, y, p.x(t.length), y)
	p.printf(`<path d="%s" fill="#2b7a3d"/>`+"\n", p.bars(t, y))
	for i, o := range t.outages {
		label := y - bandHeight - 3 - 11*(i%2) // neighbours do not touch
		p.printf(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#333" stroke-dasharray="4"/><text x="%.1f" y="%d" font-size="10">%s %s</text>`+"\n",
			p.x(o.from), label+1, p.x(o.from), y, p.x(o.from)+2, label, o.fault, seconds(o.longest))
	}
	for _, at := range badRows(t) {
		p.printf(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#d11" stroke-width="2"/>`+"\n", p.x(at), y+2, p.x(at), y+12)
	}
}

// bars returns the outline of the acknowledged writes in each bucket.
func (p *canvas) bars(t *trial, y int) string {
	counts := countBuckets(ackTimes(t.acks), t.length)
	full := float64(t.stage.rate) * bucket.Seconds()
	var b strings.Builder
	fmt.Fprintf(&b, "M%.1f %d", p.x(0), y)
	for i, n := range counts {
		if i > 0 && n == counts[i-1] {
			continue // the line goes on
		}
		top := float64(y) - min(1.1, float64(n)/full)*(bandHeight-8)
		fmt.Fprintf(&b, "H%.1fV%.1f", p.x(time.Duration(i)*bucket), top)
	}
	fmt.Fprintf(&b, "H%.1fV%dZ", p.x(time.Duration(len(counts))*bucket), y)
	return b.String()
}

func countBuckets(times []time.Duration, length time.Duration) []int {
	counts := make([]int, length/bucket+1)
	for _, at := range times {
		counts[min(int(at/bucket), len(counts)-1)]++
	}
	return counts
}

// badRows returns when rows were stored that should not have been, each tenth of a second once.
func badRows(t *trial) (times []time.Duration) {
	stale, duplicate := staleRows(t.rows), duplicateRows(t.rows)
	seen := make(map[time.Duration]bool)
	for i, r := range t.rows {
		at := r.at.Sub(t.began).Truncate(100 * time.Millisecond)
		if (stale[i] || duplicate[i]) && !seen[at] {
			seen[at] = true
			times = append(times, at)
		}
	}
	return times
}

func (p *canvas) axis(y int) {
	for at := time.Duration(0); at <= p.length; at += 10 * time.Second {
		p.printf(`<text x="%.1f" y="%d" text-anchor="middle">%.0f</text>`+"\n", p.x(at), y+12, at.Seconds())
	}
	p.printf(`<text x="%d" y="%d" text-anchor="middle">seconds; green: acknowledged writes; red: a row that is a duplicate, or of a replaced leader</text>`+"\n", plotWidth/2, y+32)
}
