//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

// replaced returns how long after an injection another instance gave its first answer. ok is false
// if the injection hit no instance, or if no other one answered before the next injection.
func replaced(s injection, operations []Operation) (after time.Duration, ok bool) {
	if s.replaces == (singleton.Generation{}) {
		return 0, false
	}
	for _, o := range operations {
		if o.Returned <= s.at || o.Returned >= s.until || o.Answer.Generation == s.replaces {
			continue
		}
		if took := o.Returned - s.at; !ok || took < after {
			after, ok = took, true
		}
	}
	return after, ok
}

// expected describes the longest time to a replacement after a fault of a kind, as far as it
// follows from the settings. The recovery of the instance comes on top. No setting bounds a
// graceful leave: it takes as long as the network and the instance need.
func expected(k Kind) string {
	switch k {
	case Kill, Pause, Partition, Unplug:
		return fmt.Sprintf("%.2fs and recovery", cluster.Config{}.Expected().FailoverFenced.Seconds())
	case Leave:
		return "two round trips, its end, and recovery"
	case Mute, Slow, Lose, NoTCP, NoUDP, KillAll, NoStore, Steal:
	}
	return "-"
}

// expectedLeased is expected for the singleton with a lease. Other hosts request the lease as soon
// as the old host has been removed from the cluster, and then at an interval.
func expectedLeased(k Kind) string {
	if k == Leave {
		return "two round trips, two requests to the store, and its end"
	}
	return fmt.Sprintf("%.2fs", (max(cluster.Config{}.Expected().FailoverFenced, leaseTTL) + leaseRetry).Seconds())
}

// percentile returns the least of d that p percent of d do not exceed; 0 of none.
func percentile(d []time.Duration, p int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(d))[(len(d)*p+99)/100-1]
}
