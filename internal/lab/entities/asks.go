package main

import (
	"slices"
	"sync"
	"time"
)

// An ask is one ask of the steady load.
type ask struct {
	entity int
	at     time.Duration // when it was sent, after the kill; negative before it
	took   time.Duration
	node   string // that has answered; "" for none
}

// asks collects asks. It is safe for concurrent use.
type asks struct {
	mu  sync.Mutex // guards all
	all []ask
}

func (a *asks) add(one ask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, one)
}

// A second has the figures of the asks that were sent in one second.
type second struct {
	from           int // seconds after the kill
	sent, failed   int
	p50, p99, p999 time.Duration
	most           time.Duration
}

// bySecond returns the figures of each second, in order. Failed asks have no latency.
func bySecond(all []ask) (seconds []second) {
	latencies := map[int][]time.Duration{}
	failed := map[int]int{}
	var order []int
	for _, a := range all {
		from := int((a.at+1000*time.Second)/time.Second) - 1000 // rounded down
		if !slices.Contains(order, from) {
			order = append(order, from)
		}
		if a.node == "" {
			failed[from]++
		} else {
			latencies[from] = append(latencies[from], a.took)
		}
	}
	slices.Sort(order)
	for _, from := range order {
		l := latencies[from]
		slices.Sort(l)
		seconds = append(seconds, second{
			from: from, sent: len(l) + failed[from], failed: failed[from],
			p50: percentile(l, 0.5), p99: percentile(l, 0.99), p999: percentile(l, 0.999), most: percentile(l, 1),
		})
	}
	return seconds
}

// percentile returns the least of sorted that a share of it does not exceed; 0 of none.
func percentile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// firstWoken returns when the first entity of the killed node has answered elsewhere; ok is false
// if none has. was says which entities it had.
func firstWoken(all []ask, was func(entity int) bool, killed string) (after time.Duration, ok bool) {
	for _, a := range all {
		if a.node == "" || a.node == killed || a.at+a.took < 0 || !was(a.entity) {
			continue
		}
		if !ok || a.at+a.took < after {
			after, ok = a.at+a.took, true
		}
	}
	return after, ok
}

// waits is how long an ask takes at least that counts as one that has waited.
const waits = 500 * time.Millisecond

// recovered returns when the last ask was over that was sent after the kill, and has waited.
func recovered(all []ask) (after time.Duration) {
	for _, a := range all {
		if a.at >= 0 && a.took >= waits {
			after = max(after, a.at+a.took)
		}
	}
	return after
}
