package main

import (
	"slices"
	"time"
)

// silence returns the longest time between from and to in which nothing was acknowledged;
// acks are in order.
func silence(acks []time.Duration, from, to time.Duration) (longest time.Duration) {
	first, _ := slices.BinarySearch(acks, from)
	last := from
	for _, ack := range acks[first:] {
		if ack >= to {
			break
		}
		longest, last = max(longest, ack-last), ack
	}
	return max(longest, to-last)
}

// median returns the middle one, of an even number the greater of two; 0 of none.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(d))[len(d)/2]
}
