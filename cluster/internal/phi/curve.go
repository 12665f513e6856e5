package phi

import "math"

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
