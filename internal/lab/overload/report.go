package overload

import (
	"fmt"
	"strings"
	"time"
)

// table returns the figures in Markdown.
func table(all []outcome) string {
	var b strings.Builder
	b.WriteString("| | load | answered in time, of what can be | p50 | p99 | first answer after the load fell |\n|---|--:|--:|--:|--:|--:|\n")
	for _, o := range all {
		s := o.summary()
		first := s.first.String()
		if o.first == 0 {
			first = fmt.Sprintf("not within %v", lasts-ends)
		}
		fmt.Fprintf(&b, "| %s | %d× | %.0f %% | %v | %v | %s |\n", o.policy.name, o.times, 100*s.share, s.p50, s.p99, first)
	}
	return b.String()
}

// The size of a plot, and the space around it.
const (
	width, height = 760, 320
	left, right   = 60, 150
	top, bottom   = 20, 45
)

var colors = []string{"#b3261e", "#c77700", "#5b6bbf", "#2b7a3d"}

// plot returns the answers in time by the second at the lower load, as an SVG image.
func plot(all []outcome) string {
	var b strings.Builder
	most := float64(time.Second / typical)
	x := func(second float64) float64 { return left + second/lasts.Seconds()*(width-left-right) }
	y := func(answers float64) float64 { return top + (1-min(answers/most, 1.1)/1.1)*(height-top-bottom) }
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#f1f1f1"/>`+"\n", x(begins.Seconds()), top, x(ends.Seconds())-x(begins.Seconds()), height-top-bottom)
	for share := 0; share <= 100; share += 25 {
		at := y(most * float64(share) / 100)
		fmt.Fprintf(&b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%d %%</text>`+"\n", left, at, width-right, at, left-8, at+4, share)
	}
	for second := 0; second <= int(lasts.Seconds()); second += 2 {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(float64(second)), height-bottom+18, second)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">seconds; grey: three times the load that can be answered</text>`+"\n", left+(width-left-right)/2, height-8)
	drawn := 0
	for _, o := range all {
		if o.times != 3 {
			continue
		}
		var points []string
		for second, answers := range o.answered {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(float64(second)+0.5), y(float64(answers))))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n",
			strings.Join(points, " "), colors[drawn], width-right+12, top+16+18*drawn, colors[drawn], o.policy.name)
		drawn++
	}
	b.WriteString("</svg>\n")
	return b.String()
}
