package phi

import (
	"math"
	"time"
)

// The logistic approximation of the normal distribution: the probability of a value more than y
// standard deviations above the mean is about 1/(1+exp(linear·y + cubic·y³)).
const (
	linear = 1.5976
	cubic  = 0.070566
)

// suspicion returns phi for a value y standard deviations above the mean, where the
// approximated probability is 1/(1+exp(x)). Its form of the logarithm neither overflows nor
// underflows, however long the silence is.
func suspicion(y float64) float64 {
	x := y * (linear + cubic*y*y)
	return (max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))) / math.Ln10
}

func deviations(phi float64) float64 {
	low, high := -10.0, 10.0
	for suspicion(high) < phi {
		high *= 2
	}
	for range 64 {
		if mid := (low + high) / 2; suspicion(mid) < phi {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// unit is the resolution of intervals. longest is the longest interval that is kept, so that
// the sum of the squares of a window of thousands of intervals does not overflow.
const (
	unit    = time.Microsecond
	longest = time.Minute
)

// A window keeps the last intervals, with exact running sums, in units.
type window struct {
	ring []uint64
	next int // index that the next interval overwrites once the ring is full
	sum  uint64
	sq   uint64
}

func newWindow(samples int) window { return window{ring: make([]uint64, 0, samples)} }

func (w *window) add(interval time.Duration) {
	v := uint64(max(min(interval, longest), 0) / unit)
	w.sum += v
	w.sq += v * v
	if len(w.ring) < cap(w.ring) {
		w.ring = append(w.ring, v)
		return
	}
	old := w.ring[w.next]
	w.sum -= old
	w.sq -= old * old
	w.ring[w.next] = v
	w.next = (w.next + 1) % len(w.ring)
}

func (w *window) mean() float64 {
	if len(w.ring) == 0 {
		return 0
	}
	return float64(w.sum) / float64(len(w.ring))
}

func (w *window) variance() float64 {
	if len(w.ring) == 0 {
		return 0
	}
	m := w.mean()
	return max(float64(w.sq)/float64(len(w.ring))-m*m, 0)
}

func (w *window) stdDev() float64 { return math.Sqrt(w.variance()) }
