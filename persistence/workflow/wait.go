package workflow

import (
	"fmt"
	"time"
)

// Sleep waits for d, which is stored: after a crash it goes on to wait for the rest. A run that
// sleeps leaves memory after some seconds. Sleep returns early with [ErrCancelled] or [ErrFailed]
// if the run turns. The sleeps of a branch are known by their number, so code that adds one puts it
// into a [Branch] of its own.
func Sleep(w *Run, d time.Duration) error {
	l, full := w.live, w.use(w.numbered("sleep"))
	if d <= 0 {
		return nil
	}
	l.mu.Lock()
	began := l.waits[wait{Name: full}.key()]
	l.mu.Unlock()
	if began.isAfter(full) {
		return nil
	}
	var first *event
	if began.Name != full {
		if err := l.gate(); err != nil {
			return err
		}
		now := time.Now()
		began = wait{Name: full, Until: now.Add(d)}
		first = &event{What: waiting, Name: full, Until: began.Until, At: now}
	}
	for {
		l.mu.Lock()
		why, at := l.turned, l.turnedAt
		l.mu.Unlock()
		if why != nil && at.Before(began.Until) {
			return why
		}
		if first == nil && !began.Until.After(time.Now()) || l.park(began, first) {
			return nil
		}
		first = nil // park has stored it, unless the run has turned
	}
}

// Await returns the next signal of that name which no other call has taken, whether it has come
// before or comes within d. After d it returns [ErrTimedOut]; zero or less waits for ever. It
// returns [ErrCancelled] or [ErrFailed] if the run turns. A run that waits leaves memory after some
// seconds; the signal brings it back. A branch may await a name several times: the calls are known
// by their number.
func Await[T any](w *Run, name string, d time.Duration) (T, error) {
	if err := checkName(name); err != nil {
		w.live.hold(err)
	}
	full := w.use(w.numbered(name))
	out, err := w.await(full, name, d)
	if err != nil {
		return *new(T), err
	}
	return result[T](w.live, full, out)
}

func (w *Run) await(full, name string, d time.Duration) (value, error) {
	l := w.live
	l.mu.Lock()
	done, over := l.outcomes[full]
	began, stored := l.waits[full]
	l.mu.Unlock()
	if over {
		return done.Value, nil
	}
	if err := l.gate(); err != nil {
		return value{}, err
	}
	var first *event
	if !stored {
		began = wait{Name: full, Signal: name}
		if d > 0 {
			began.Until = time.Now().Add(d)
		}
		first = &event{What: waiting, Name: full, Signal: name, Until: began.Until, At: time.Now()}
	}
	for due := false; ; {
		if s, ok := l.collect(name); ok {
			l.store(event{What: finished, Name: full, Value: s.Value, Signal: name, Number: s.Number, At: time.Now()})
			return s.Value, nil
		}
		if why := l.why(); why != nil {
			return value{}, why
		}
		if due || !began.Until.IsZero() && !began.Until.After(time.Now()) {
			out := failure(fmt.Errorf("%w: %s", ErrTimedOut, name))
			l.store(event{What: finished, Name: full, Value: out, Signal: name, At: time.Now()})
			return out, nil
		}
		due = l.park(began, first)
		first = nil
	}
}
