package singleton_test

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/testkit"
)

// Messages sent while the host leaves would meet a host that is gone, unless the host waits for
// them. With a slow network the former host returns messages for longer than the patience of a
// recall.
func TestNoMessageIsLostByNodesThatLeave(t *testing.T) {
	for _, delay := range []time.Duration{time.Millisecond, 40 * time.Millisecond, 150 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			inCluster(t, []string{"a", "b", "c", "d"}, func(t *testing.T, c *cluster) {
				c.net.slow(delay)
				book, census := newLedger(), testkit.NewCensus(t)
				refs := onAll(c, testkit.Counted(census, book.keep(0)))
				time.Sleep(time.Second)
				telling(refs, 300, time.Millisecond, "c", "d")
				telling(refs, 20, time.Millisecond, "a", "b")
				time.Sleep(20 * time.Millisecond)
				c.startLeaving("b")
				c.startLeaving("a")
				c.finishLeaving("b")
				c.finishLeaving("a")
				time.Sleep(10 * time.Second)
				book.requireAll(t, 300, "c", "d")
				book.requireAll(t, 20, "a", "b")
				requireOne(t, census, "c")
				for _, n := range c.nodes {
					n.deadLetters.ExpectNone(0)
				}
			})
		})
	}
}
