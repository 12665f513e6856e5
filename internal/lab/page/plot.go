package page

import (
	"fmt"
	"math"
	"strings"
)

// The size of a plot, and the space around it.
const (
	width, height = 760, 360
	left, right   = 70, 190
	top, bottom   = 20, 45
)

var colors = []string{"#2b7a3d", "#c77700", "#b3261e", "#5b6bbf", "#00838f", "#7b4ea3", "#455a64", "#ad1457"}

// A Plot is a picture of up to six curves.
type Plot struct {
	Title  string // below the horizontal axis
	X, Y   Axis
	Curves []Curve
	Grey   []float64 // nil, or two values of X: what is between them is grey
}

// An Axis is one of a plot. A value outside of it is drawn at its end.
type Axis struct {
	Least, Most float64
	Log         bool // both are positive
	Ticks       []float64
	Text        func(tick float64) string
}

// A Curve is one line of a plot.
type Curve struct {
	Name   string
	Points []Point
}

// A Point is one of a curve.
type Point struct{ X, Y float64 }

// share returns how far a value is from the beginning of the axis, as a part of its length.
func (a Axis) share(value float64) float64 {
	least, most := a.Least, a.Most
	value = min(max(value, least), most)
	if a.Log {
		least, most, value = math.Log(least), math.Log(most), math.Log(value)
	}
	return (value - least) / max(most-least, 1e-9)
}

func (p Plot) x(value float64) float64 { return left + p.X.share(value)*(width-left-right) }

func (p Plot) y(value float64) float64 { return top + (1-p.Y.share(value))*(height-top-bottom) }

// SVG returns the plot as an image.
func (p Plot) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	if p.Grey != nil {
		from, to := p.x(p.Grey[0]), p.x(p.Grey[1])
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#ececec"/>`+"\n", from, top, to-from, height-top-bottom)
	}
	for _, tick := range p.Y.Ticks {
		fmt.Fprintf(&b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, p.y(tick), width-right, p.y(tick), left-8, p.y(tick)+4, p.Y.Text(tick))
	}
	for _, tick := range p.X.Ticks {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", p.x(tick), height-bottom+18, p.X.Text(tick))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", left+(width-left-right)/2, height-8, p.Title)
	for i, c := range p.Curves {
		p.draw(&b, i, c)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (p Plot) draw(b *strings.Builder, number int, c Curve) {
	points := make([]string, len(c.Points))
	for i, at := range c.Points {
		points[i] = fmt.Sprintf("%.1f,%.1f", p.x(at.X), p.y(at.Y))
	}
	color := colors[number%len(colors)]
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n",
		strings.Join(points, " "), color, width-right+12, top+16+18*number, color, c.Name)
}
