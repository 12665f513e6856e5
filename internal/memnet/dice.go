package memnet

import "hash/fnv"

// It is a hash of seed, link and counter.
type dice struct{ base, count uint64 }

func newDice(seed uint64, l link) *dice {
	h := fnv.New64a()
	h.Write([]byte(l.from + "\x00" + l.to)) // a hash never fails
	return &dice{base: mix(seed ^ h.Sum64())}
}

// The number is in [0, 1).
func (d *dice) next() float64 {
	d.count++
	return float64(mix(d.base+d.count)>>11) / (1 << 53)
}

// It is the finalizer of SplitMix64: every bit of x moves about half of the result.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
