package actor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"go.uber.org/zap/zapcore"
)

// A Directive is the decision about a failure.
type Directive int

const (
	// Restart starts the supervised behavior again: timers are cancelled, [PreRestart] goes to the
	// behavior that failed, children are stopped and waited for. The message that failed is lost;
	// those in the mailbox are handled afterwards, in order.
	Restart Directive = iota
	// Resume continues with the current behavior and state; only the message that failed is lost.
	Resume
	// Stop ends the actor.
	Stop
	// Escalate asks the enclosing strategy. The outermost strategy has none to ask: Escalate
	// then ends the actor and fails its parent with [ErrEscalated].
	Escalate

	// NoRestarts is the [Strategy.Limit] that allows no restarts.
	NoRestarts = math.MinInt
)

// A Strategy decides about failures. Errors that implement Final() bool and return true, such as
// persistence.ErrFenced, always stop the actor; the strategy is not consulted.
//
// The zero Strategy restarts immediately and without limit, except that a failure of the first
// behavior itself (in Setup) stops the actor; that is retried only with a Limit or a Backoff.
type Strategy struct {
	// Decide chooses by the error, which may be a [*PanicError]; compare with errors.Is and
	// errors.As. The default, nil, is always Restart. It runs inside the actor; if it panics, the
	// actor stops.
	Decide func(error) Directive

	// Limit is the number of restarts allowed within Window; the next failure stops the actor.
	// 0 means no limit. [NoRestarts] stops the actor at the first failure.
	Limit int
	// Window is the sliding time in which restarts count towards Limit. 0 means forever or, with
	// a Backoff, until that is reset.
	Window time.Duration

	// Backoff delays restarts. By default they are not delayed.
	Backoff Backoff

	// KeepChildren leaves children running during a restart. By default they are stopped.
	KeepChildren bool

	// StashCapacity is how many messages may wait during a restart until further ones are dead
	// letters with [ErrStashFull]. Those that waited before count and are kept, however many they
	// are. By default only the mailbox bounds them.
	StashCapacity int

	// LogLevel returns the level at which a failure is logged together with the decision. inARow
	// is the number of failures, this one included, since the backoff was reset or, without a
	// Backoff, ever. Levels above Error count as Error; zapcore.InvalidLevel logs nothing. The
	// default, nil, is Error when the actor ends, otherwise Warn. It runs inside the actor.
	LogLevel func(err error, inARow int) zapcore.Level
}

// A Backoff is an exponential delay: Min, 2·Min, 4·Min, …, at most Max, each multiplied with a
// random factor in [1, 1+Jitter). A zero Max means Min. The delay starts again at Min when the
// actor has run for Reset without a failure; a zero Reset means (Min+Max)/2. The zero Backoff does
// not delay.
type Backoff struct {
	Min, Max time.Duration
	Jitter   float64
	Reset    time.Duration
}

// Delay returns the delay before attempt n, counted from 0.
func (b Backoff) Delay(n int) time.Duration {
	if b.Min <= 0 {
		return 0
	}
	d := b.limit()
	if n < 62 && b.Min<<n > 0 && b.Min<<n>>n == b.Min {
		d = min(d, b.Min<<n)
	}
	jitter := time.Duration(b.Jitter * rand.Float64() * float64(d)) //nolint:gosec // jitter needs no cryptographic randomness
	return max(d, d+jitter)                                         // the sum may be too large
}

// ResetAfter returns how long the actor must run without a failure until the delay starts again at
// Min.
func (b Backoff) ResetAfter() time.Duration {
	if b.Reset != 0 {
		return b.Reset
	}
	return b.Min + (b.limit()-b.Min)/2
}

func (b Backoff) limit() time.Duration { return max(b.Min, b.Max) }

func (s Strategy) validate() {
	if s.Limit < 0 && s.Limit != NoRestarts || s.Window < 0 || s.StashCapacity < 0 || s.Backoff.Min < 0 || s.Backoff.Max < 0 || s.Backoff.Jitter < 0 || s.Backoff.Reset < 0 {
		panic(fmt.Sprintf("actor: supervision strategy has a negative setting: %+v", s))
	}
	if s.Backoff.Max > 0 && s.Backoff.Max < s.Backoff.Min {
		panic(fmt.Sprintf("actor: supervision backoff has Max %v below Min %v", s.Backoff.Max, s.Backoff.Min))
	}
}

func (s Strategy) decide(err error) Directive {
	if s.Decide == nil {
		return Restart
	}
	return s.Decide(err)
}

type ledger struct {
	times   []time.Time // those that count towards the limit
	delays  int         // restarts since the backoff was reset
	inARow  int         // failures since then
	started time.Time   // when what it supervises now began to run without failure; zero: it has not
}

// The failure is the first in a row if the actor has run long enough without one.
func (l *ledger) failed(s Strategy, now time.Time) {
	if s.Backoff.Min > 0 && !l.started.IsZero() && now.Sub(l.started) >= s.Backoff.ResetAfter() {
		l.delays, l.inARow = 0, 0
		if s.Window == 0 {
			l.times = nil
		}
	}
	l.inARow++
	if !l.started.IsZero() {
		l.started = now // good times begin anew, also where it resumes
	}
}

// ok is false at the limit.
func (l *ledger) admit(s Strategy, now time.Time) (delay time.Duration, ok bool) {
	if s.Limit == NoRestarts {
		return 0, false
	}
	if s.Limit > 0 {
		for s.Window > 0 && len(l.times) > 0 && now.Sub(l.times[0]) > s.Window {
			l.times = l.times[1:]
		}
		if len(l.times) >= s.Limit {
			return 0, false
		}
		l.times = append(l.times, now)
	}
	delay = s.Backoff.Delay(l.delays)
	l.delays++
	return delay, true
}
