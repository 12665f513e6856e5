// Package instant has the form in which the tables of databases keep when a timer is due.
package instant

import (
	"math"
	"time"
)

// Nanoseconds returns the nanoseconds from 1970 to t. A time before or after every valid time of a
// timer, such as the zero time, becomes the least or the greatest number.
func Nanoseconds(t time.Time) int64 {
	switch year := t.UTC().Year(); {
	case year < 1678:
		return math.MinInt64
	case year > 2261:
		return math.MaxInt64
	}
	return t.UnixNano()
}
