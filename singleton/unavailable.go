package singleton

import (
	"fmt"
	"strings"
	"time"
)

// silence is the [actor.Silence] of a system with singletons.
func (b *board) silence(path string) error {
	s, ok := b.read(nameOf(path))
	if !ok {
		return nil
	}
	if s.Phase == Ended {
		return ErrFinished
	}
	if why := s.unavailable(time.Now()); why != "" {
		return fmt.Errorf("%w: %s", ErrUnavailable, why)
	}
	return nil
}

// unavailable says why messages do not reach an instance; "" when they do.
func (s Status) unavailable(now time.Time) string {
	switch s.Phase {
	case Pending:
		return "no member that this node knows of can host it"
	case Asking:
		if len(s.WaitingFor) > 0 {
			return "waiting for the answer of " + strings.Join(s.WaitingFor, ", ")
		}
		if wait := s.NotBefore.Sub(now); wait > 0 {
			return fmt.Sprintf("a former member may still run it for %v", wait.Round(time.Millisecond))
		}
		return "about to start here"
	case Acquiring:
		if s.Obstacle != nil {
			return fmt.Sprintf("no permission from outside of the cluster: %v", s.Obstacle)
		}
		return "about to get its lease or its term"
	case Standby:
		if s.Held > 0 {
			return "its host " + s.Host + " cannot be reached, or does not take messages yet"
		}
	case HandingOver:
		return "it stops here, to start elsewhere"
	case Stopping:
		return "it stops, as this node is down or has lost the lease"
	case Host:
		if !s.Here {
			return "it has failed or stopped, and is about to be started again"
		}
	case Ended:
	}
	return ""
}
