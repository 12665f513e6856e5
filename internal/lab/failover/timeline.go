package failover

import (
	"fmt"
	"io"
	"time"
)

// A timeline prints events with their times. It ignores errors of printing.
type timeline struct {
	out   io.Writer
	start time.Time
}

func newTimeline(out io.Writer) *timeline { return &timeline{out: out, start: time.Now()} }

// say prints one line about a node, or about all of them when node is "".
func (t *timeline) say(node, format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, "%6.2fs  %-3s %s\n", time.Since(t.start).Seconds(), node, fmt.Sprintf(format, args...))
}

// text prints a line without a time.
func (t *timeline) text(format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, format+"\n", args...)
}
