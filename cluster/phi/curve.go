package phi

import "math"

// The logistic approximation of the normal distribution: the chance to see a value more
// than y standard deviations above the mean is about 1/(1+exp(linear·y + cubic·y³)).
const (
	linear = 1.5976
	cubic  = 0.070566
)

// suspicion is phi for a value y standard deviations above the mean, at which the
// approximated chance is 1/(1+exp(x)). It takes the logarithm of that in a form in which
// nothing overflows or vanishes, however long the silence.
func suspicion(y float64) float64 {
	x := y * (linear + cubic*y*y)
	return (max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))) / math.Ln10
}

// deviations is the inverse of suspicion, by bisection.
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
