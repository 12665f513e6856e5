//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

// replaced returns how long after a strike another instance gave its first answer; ok is
// false when it hit none, or none came before the next strike.
func replaced(s strike, operations []Operation) (after time.Duration, ok bool) {
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

// expected says how long that takes at most, for a fault of a kind: what follows from the
// settings, after which the instance has to recover. When its host leaves nothing follows
// from settings: it takes as long as the network and the instance.
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

// expectedLeased is expected for the singleton with a lease, whose other hosts ask for it as
// soon as the old one is out of the cluster, and then at an interval.
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
