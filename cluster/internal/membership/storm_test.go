package membership

import (
	"testing"
	"time"
)

// 48 nodes start at once, and then 12 of them leave at once. Each time
// the remaining nodes agree within 15 s, under one leader.
func TestAStormOfJoinsAndLeavesIsOverInSeconds(t *testing.T) {
	w := newWorld(t, 62, 48)
	for _, n := range w.nodes {
		n.start()
	}
	w.within(15*time.Second, func() string { return w.among(w.all()...) })
	for _, n := range w.nodes[36:] {
		n.step(LeaveAsked{})
	}
	w.within(15*time.Second, func() string { return w.among(w.all()[:36]...) })
}
