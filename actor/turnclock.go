package actor

import "time"

const (
	maxTurn = 250 * time.Microsecond
	// They bound the time between two looks at the clock.
	shortStride, longStride = 15 * time.Microsecond, 50 * time.Microsecond
	// In messages.
	maxStride = 32
)

// A turnClock notices that a turn takes long. It looks at the clock after a number of messages that
// the actor has learned, because a look costs more than a short message. If messages become long,
// the watchdog makes it look earlier.
type turnClock struct {
	begun, last time.Duration // since epoch; 0 before the first look
	left        int           // messages until the next look
}

var epoch = time.Now()

// stride is how many messages have been handled since the last look or the begin of the turn, and
// then how many to handle until the next; 0 means 1.
func (t *turnClock) look(now time.Duration, stride *uint8) (ends bool) {
	if t.begun == 0 {
		t.begun = now
	} else {
		switch took := now - t.last; {
		case took < shortStride:
			*stride = uint8(min(2*int(max(*stride, 1)), maxStride))
		case took > longStride:
			*stride = 1
		}
	}
	t.last = now
	t.left = int(max(*stride, 1))
	return now-t.begun >= maxTurn
}

// The clock of testing/synctest begins in the year 2000, and no other goes back by years while a
// process runs.
func timeIsVirtual() bool { return epoch.Round(0).Sub(time.Now().Round(0)) > 365*24*time.Hour }
