package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"
)

// nap is how long a process sleeps that wants to know whether it gets a processor, and stall
// how long it has slept then if it has not got one, or was stopped.
const (
	nap   = 10 * time.Millisecond
	stall = 50 * time.Millisecond
)

// writeStalls writes a line for each time in which this process was held up, until ctx ends.
func writeStalls(ctx context.Context, out io.Writer) {
	for last := clock(); sleep(ctx, nap) == nil; last = clock() {
		if now := clock(); now-last > stall {
			_, _ = fmt.Fprintf(out, "%d %d\n", last, now) // who reads it takes the process for idle else
		}
	}
}

// longestStall returns the longest that ended after a time, of those that one process has
// written; 0 when there was none. The last line may be torn.
func longestStall(in io.Reader, from time.Duration) (longest time.Duration) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var s span
		if _, err := fmt.Sscanf(lines.Text(), "%d %d", &s[0], &s[1]); err != nil {
			return longest
		}
		if s[1] >= from {
			longest = max(longest, s[1]-s[0])
		}
	}
	return longest
}
