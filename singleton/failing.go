package singleton

import (
	"fmt"
	"time"
)

// restarts returns how often in a row the instance has ended by itself here before it had run
// well, and when the one that runs will have; zero when none runs.
func (m *machine) restarts() (inARow int, wellAt time.Time) {
	switch m.phase {
	case Pending, Standby, Ended:
		return 0, time.Time{}
	case Asking, Acquiring, Host, HandingOver, Stopping:
	}
	if m.alive {
		wellAt = m.started.Add(m.set.restart.ResetAfter())
	}
	return m.failures, wellAt
}

// failed notes with what an instance has ended.
func (s *Status) failed(err error, now time.Time) {
	s.Failures++
	s.LastError, s.FailedAt = err, now
}

// reportFailing says how the instances here fare. What keeps one from running is then also
// the error with which the former has ended.
func (s *Status) reportFailing(m *machine) {
	s.RestartsInARow, s.wellAt = m.restarts()
	if s.Phase == Host && s.Why != "" && s.RestartsInARow > 0 && s.LastError != nil {
		s.Why = fmt.Sprintf("%s; restart %d in a row, the last failure: %v", s.Why, s.RestartsInARow, s.LastError)
	}
}
