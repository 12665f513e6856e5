package lease

import (
	"time"

	"github.com/understudy-go/understudy/internal/bubble"
)

// A Clock is a holder's source of time, see [Settings]. Its methods may be called from any
// goroutine.
type Clock interface {
	// Now returns the monotonic time since some moment in the past, and the time of day. A lease
	// uses the one that has advanced further, because the monotonic clock stands still while a
	// machine is suspended, and the time of day may be set back.
	Now() (steady time.Duration, day time.Time)

	// AfterFunc calls f in its own goroutine when the monotonic clock has advanced by d. The
	// returned function prevents the call if it has not begun.
	AfterFunc(d time.Duration, f func()) (stop func())
}

type machineClock struct{ start time.Time }

func (c machineClock) Now() (time.Duration, time.Time) {
	now := time.Now()
	return now.Sub(c.start), now
}

func (machineClock) AfterFunc(d time.Duration, f func()) func() {
	t := time.AfterFunc(bubble.Wait(d), f)
	return func() { t.Stop() }
}

// A moment is what both clocks showed at one time.
type moment struct{ steady, day time.Duration }

func momentOf(c Clock) moment {
	steady, day := c.Now()
	return moment{steady: steady, day: time.Duration(day.UnixNano())}
}

// since returns the time since before, by the clock that has advanced further.
func (m moment) since(before moment) time.Duration {
	return max(m.steady-before.steady, m.day-before.day)
}
