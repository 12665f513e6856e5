package lease

import "time"

// A Clock is what a holder knows of the time: see [Settings]. Its methods may be called
// from any goroutine.
type Clock interface {
	// Now returns the time since some moment of the past by a clock that nobody sets, and
	// the time of day. Lease counts with the one that has advanced further: the first one
	// stands still while a machine is suspended, and the second one may be set back.
	Now() (steady time.Duration, day time.Time)

	// AfterFunc calls f in a goroutine of its own when the first clock has advanced by d.
	// The returned function prevents that, if it is not too late.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// machineClock is the clock of this machine.
type machineClock struct{ start time.Time }

func (c machineClock) Now() (time.Duration, time.Time) {
	now := time.Now()
	return now.Sub(c.start), now
}

func (machineClock) AfterFunc(d time.Duration, f func()) func() {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}

// A moment is what both clocks showed.
type moment struct{ steady, day time.Duration }

func momentOf(c Clock) moment {
	steady, day := c.Now()
	return moment{steady: steady, day: time.Duration(day.UnixNano())}
}

// since returns how long ago before was, by the clock that says longer.
func (m moment) since(before moment) time.Duration {
	return max(m.steady-before.steady, m.day-before.day)
}
