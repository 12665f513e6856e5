package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"
)

// A process sleeps for nap to check whether it gets a processor. If it has slept longer than stall,
// it got none, or was stopped.
const (
	nap   = 10 * time.Millisecond
	stall = 50 * time.Millisecond
)

// writeStalls writes a line for each time in which this process was held up, until ctx ends.
func writeStalls(ctx context.Context, out io.Writer) {
	for last := clock(); sleep(ctx, nap) == nil; last = clock() {
		if now := clock(); now-last > stall {
			_, _ = fmt.Fprintf(out, "%d %d\n", last, now) // without the line the reader takes the process for idle
		}
	}
}

// longestStall returns the longest stall of one process that ended after from, or 0. The last line
// of in may be torn.
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
