package failover

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The measures of a picture: a lane for each node, and below them the acknowledged increments.
const (
	pictureWidth, pictureLeft, pictureRight = 860, 50, 20
	laneTop, laneHeight, barHeight          = 30, 44, 18
	ackHeight                               = 110
	bucket                                  = 100 * time.Millisecond
)

// picture returns what has happened as an SVG image: which node hosted when, when it was struck,
// and how many increments were acknowledged in each tenth of a second.
func (t *timeline) picture() string {
	t.end()
	nodes := t.nodes()
	last := max(t.hosts[len(t.hosts)-1].to, t.acks[len(t.acks)-1]).Truncate(time.Second) + time.Second
	x := func(at time.Duration) float64 {
		return pictureLeft + at.Seconds()/last.Seconds()*(pictureWidth-pictureLeft-pictureRight)
	}
	base := laneTop + laneHeight*len(nodes) + ackHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", pictureWidth, base+50)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", pictureWidth, base+50)
	for s := time.Duration(0); s <= last; s += time.Second {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#eee"/><text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n",
			x(s), laneTop-10, x(s), base, x(s), base+16, int(s.Seconds()))
	}
	lane := func(node string) int { return laneTop + laneHeight*slices.Index(nodes, node) }
	for _, node := range nodes {
		fmt.Fprintf(&b, `<text x="8" y="%d">%s</text><line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#ccc"/>`+"\n",
			lane(node)+14, node, pictureLeft, lane(node)+barHeight/2, pictureWidth-pictureRight, lane(node)+barHeight/2)
	}
	for _, h := range t.hosts {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#2b7a3d"/><text x="%.1f" y="%d" fill="white">%s</text>`+"\n",
			x(h.from), lane(h.node), x(h.to)-x(h.from), barHeight, x(h.from)+5, lane(h.node)+13, h.generation)
	}
	for _, m := range t.harms {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#b3261e" stroke-dasharray="4"/><text x="%.1f" y="%d" fill="#b3261e">%s</text>`+"\n",
			x(m.at), lane(m.node), x(m.at), base, x(m.at)+4, lane(m.node)+barHeight+14, m.name)
	}
	t.drawAcks(&b, x, base)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">seconds; green: hosts the singleton, with its generation; below: increments acknowledged in each tenth of a second</text>`+"\n",
		pictureWidth/2, base+38)
	b.WriteString("</svg>\n")
	return b.String()
}

// drawAcks draws a bar for each bucket of acknowledged increments.
func (t *timeline) drawAcks(b *strings.Builder, x func(time.Duration) float64, base int) {
	counts := map[time.Duration]int{}
	most := 0
	for _, at := range t.acks {
		from := at.Truncate(bucket)
		counts[from]++
		most = max(most, counts[from])
	}
	for _, from := range slices.Sorted(maps.Keys(counts)) {
		height := float64(counts[from]) / float64(most) * (ackHeight - 10)
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#2b5fab"/>`+"\n",
			x(from), float64(base)-height, x(from+bucket)-x(from)-0.5, height)
	}
}

// nodes returns the names of all nodes that hosted or were struck, in their order.
func (t *timeline) nodes() []string {
	var names []string
	for _, h := range t.hosts {
		names = append(names, h.node)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
