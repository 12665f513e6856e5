package failover

import (
	"fmt"
	"io"
	"time"
)

// A timeline prints events with their times, and keeps what a picture of them needs. It ignores
// errors of printing.
type timeline struct {
	out   io.Writer
	start time.Time

	hosts []hosting
	harms []mark
	acks  []time.Duration // when each increment was acknowledged
}

// A hosting is the time in which a node hosts the counter. It ends when the next one begins, or
// when the host is struck.
type hosting struct {
	node, generation string
	from, to         time.Duration // to is 0 while it goes on
}

// A mark is a fault of a node.
type mark struct {
	node, name string
	at         time.Duration
}

func newTimeline(out io.Writer) *timeline { return &timeline{out: out, start: time.Now()} }

// say prints one line about a node, or about all of them when node is "".
func (t *timeline) say(node, format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, "%6.2fs  %-3s %s\n", time.Since(t.start).Seconds(), node, fmt.Sprintf(format, args...))
}

// hosting records that a node has become the host, and says so.
func (t *timeline) hosting(node, generation string) {
	t.end()
	t.hosts = append(t.hosts, hosting{node: node, generation: generation, from: time.Since(t.start)})
	t.say(node, "hosts the counter, generation %s", generation)
}

// harm records a fault of the host.
func (t *timeline) harm(node, name string) {
	t.end()
	t.harms = append(t.harms, mark{node: node, name: name, at: time.Since(t.start)})
}

// end ends the current hosting.
func (t *timeline) end() {
	if n := len(t.hosts); n > 0 && t.hosts[n-1].to == 0 {
		t.hosts[n-1].to = time.Since(t.start)
	}
}

// acknowledged records an increment.
func (t *timeline) acknowledged() { t.acks = append(t.acks, time.Since(t.start)) }

// text prints a line without a time.
func (t *timeline) text(format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, format+"\n", args...)
}
