package overload

import (
	"fmt"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/lab/page"
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

// plot returns the answers in time by the second at the lower load.
func plot(all []outcome) page.Plot {
	most := float64(time.Second / typical)
	p := page.Plot{
		Title: "seconds; grey: three times the load that can be answered",
		X:     page.Axis{Most: lasts.Seconds(), Text: func(second float64) string { return fmt.Sprint(second) }},
		Y:     page.Axis{Most: 1.1 * most, Text: func(answers float64) string { return fmt.Sprintf("%.0f %%", 100*answers/most) }},
		Grey:  []float64{begins.Seconds(), ends.Seconds()},
	}
	for share := range 5 {
		p.Y.Ticks = append(p.Y.Ticks, most*float64(share)/4)
	}
	for second := 0.0; second <= p.X.Most; second += 2 {
		p.X.Ticks = append(p.X.Ticks, second)
	}
	for _, o := range all {
		if o.times != 3 {
			continue
		}
		c := page.Curve{Name: o.policy.name}
		for second, answers := range o.answered {
			c.Points = append(c.Points, page.Point{X: float64(second) + 0.5, Y: float64(answers)})
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}
