package main

import (
	"slices"
	"time"
)

// An outage is how long nothing was acknowledged because of a fault.
type outage struct {
	fault    string
	from, to time.Duration // from the strike until the system had settled
	longest  time.Duration
}

// longestGap returns the longest time without an acknowledgement that overlaps the span, up to its
// end: what follows may be the outage of the next fault. times are sorted.
func longestGap(times []time.Duration, from, to time.Duration) (longest time.Duration) {
	last := time.Duration(0)
	for _, t := range append(slices.Clip(times), to) {
		if t > from {
			longest = max(longest, min(t, to)-last)
		}
		last = t
	}
	return longest
}

// ackTimes returns when numbers were acknowledged, sorted.
func ackTimes(acks []ack) []time.Duration {
	times := make([]time.Duration, len(acks))
	for i, a := range acks {
		times[i] = a.acked
	}
	slices.Sort(times)
	return times
}

// median returns the middle one, or the lower of the two in the middle.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)-1)/2]
}
