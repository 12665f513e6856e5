// Package histogram counts durations in buckets. Any goroutine may count and read.
package histogram

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// A Histogram counts durations by their order of magnitude. The zero value is ready. Observe costs
// two uncontended atomic additions, and no lock.
type Histogram struct {
	counts [buckets]atomic.Uint64
	sum    atomic.Int64 // nanoseconds
}

// Bucket i takes durations up to 2^(i+firstBit) nanoseconds, and the last all longer ones.
const (
	firstBit = 10 // about a microsecond
	lastBit  = 34 // about 17 seconds
	buckets  = lastBit - firstBit + 2
)

// Observe counts d. A negative duration, from a clock that was set back, counts as zero.
func (h *Histogram) Observe(d time.Duration) { h.ObserveTimes(d, 1) }

// ObserveTimes counts n durations d.
func (h *Histogram) ObserveTimes(d time.Duration, n uint64) {
	d = max(d, 0)
	h.counts[bucketOf(d)].Add(n)
	h.sum.Add(int64(d) * int64(n)) //nolint:gosec // it is a count of what takes time
}

func bucketOf(d time.Duration) int {
	if d <= 1<<firstBit {
		return 0
	}
	return min(bits.Len64(uint64(d-1))-firstBit, buckets-1) //nolint:gosec // d is positive
}

// A Snapshot is what a Histogram has counted.
type Snapshot struct {
	counts [buckets]uint64
	Count  uint64
	Sum    time.Duration
}

// Read returns what h has counted. What others count meanwhile may be in Sum and not in Count.
func (h *Histogram) Read() (s Snapshot) {
	for i := range h.counts {
		s.counts[i] = h.counts[i].Load()
		s.Count += s.counts[i]
	}
	s.Sum = time.Duration(h.sum.Load())
	return s
}

// Parts returns the numbers of s: what telemetry.Family.AddDurations takes.
func (s Snapshot) Parts() (count uint64, sum time.Duration, atMost func(time.Duration) uint64) {
	return s.Count, s.Sum, s.AtMost
}

// Add adds what another histogram has counted.
func (s *Snapshot) Add(other Snapshot) {
	for i, n := range other.counts {
		s.counts[i] += n
	}
	s.Count += other.Count
	s.Sum += other.Sum
}

// AtMost returns how many of the durations were at most d. It is exact where d is a power of two of
// nanoseconds from 2^10 to 2^34. Otherwise it leaves out those in the same bucket as d.
func (s Snapshot) AtMost(d time.Duration) (n uint64) {
	for i := range s.counts[:buckets-1] {
		if 1<<(i+firstBit) > d {
			break
		}
		n += s.counts[i]
	}
	return n
}

// Quantile returns a bound that at least the share q of the durations did not exceed: the upper end
// of their bucket, or 2^35 nanoseconds for the last. It is 0 without any.
func (s Snapshot) Quantile(q float64) time.Duration {
	if s.Count == 0 {
		return 0
	}
	need, seen := uint64(math.Ceil(q*float64(s.Count))), uint64(0)
	for i, n := range s.counts {
		if seen += n; seen >= need {
			return 1 << (i + firstBit)
		}
	}
	return 1 << (lastBit + 1)
}
