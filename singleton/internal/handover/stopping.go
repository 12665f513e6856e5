package handover

import "time"

// stopping is how far this node is with an instance that is to end. An instance that stops neither
// by its stop message nor when its context is cancelled is in a handler that does not return.
// Nothing can end that handler, but the instance handles no other message. So it is given up after
// a while, like one on a node that was removed: requests of others are granted, and no instance
// starts on this node until it has ended.
type stopping struct {
	step  stoppingStep
	since time.Time // when the instance was told to stop
	at    time.Time // of the next step; zero without a next step
}

type stoppingStep uint8

const (
	notStopping stoppingStep = iota
	told                     // to stop by itself
	forced                   // to stop after the message that it is handling
	stuck                    // it has not stopped
	givenUp                  // it counts as ended
)

// forcedPatience is how long an instance may take to end after the message that it is handling,
// before it is called stuck. Most instances are handling none at this time.
const forcedPatience = 500 * time.Millisecond

func (m *Machine) pressOn(now time.Time) []Action {
	s := &m.stopping
	if s.at.IsZero() || now.Before(s.at) {
		return nil
	}
	s.step++
	switch s.step {
	case forced:
		s.at = now.Add(forcedPatience)
		return []Action{StopInstance{AtOnce: true}}
	case stuck:
		s.at = now
		if !m.terms.known.Fenced { // otherwise the journal refuses what it writes
			s.at = now.Add(m.cfg.removalMargin(&m.topo))
		}
		out := []Action{ReportStuck{Host: m.topo.Self, Since: s.since, Until: s.at}}
		for _, r := range m.waiters {
			out = append(out, m.holdUp(r, now))
		}
		if now.Before(s.at) {
			return out
		}
		return append(out, m.pressOn(now)...)
	case givenUp:
		s.at = time.Time{}
		return m.afterInstance(now)
	case notStopping, told:
	}
	return nil
}

// stuckSince returns when the instance here was told to stop, if it is stuck or given up; zero
// otherwise.
func (s *stopping) stuckSince() time.Time {
	if s.step < stuck {
		return time.Time{}
	}
	return s.since
}
