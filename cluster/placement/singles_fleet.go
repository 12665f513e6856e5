package placement

import (
	"fmt"
	"slices"
)

// asked returns the singleton whose last instance was asked for by that request.
func (s *singles) asked(label string, id requestID, on nodeID) *single {
	x := s.all[label]
	if x == nil {
		return nil
	}
	s.touch(x)
	if x.request != id || x.on != on {
		return nil
	}
	return x
}

func (s *singles) started(label string, id requestID, on nodeID) {
	if x := s.asked(label, id, on); x != nil {
		x.why, x.failed, x.since = "", nil, s.fleet.now
	}
}

func (s *singles) failed(label string, id requestID, on nodeID, why string) {
	if x := s.asked(label, id, on); x != nil && x.stays() {
		x.failed = append(x.failed, on.name)
		s.penalize(x, fmt.Sprintf("it did not start on %s: %s", on.name, why))
	}
}

// ended: it is started again on the same node, after a while; the longer, the more often
// it has ended without having run for long.
func (s *singles) ended(label string, id requestID, on nodeID, why string) {
	x := s.asked(label, id, on)
	if x == nil || !x.stays() {
		return
	}
	if s.fleet.now.Sub(x.since) >= s.cfg.retryMax {
		x.attempts = 0
	}
	if why == "" {
		why = "it has stopped by itself"
	}
	s.penalize(x, fmt.Sprintf("it has ended on %s: %s", on.name, why))
}

func (s *singles) stopped(label string, id requestID, on nodeID) { s.asked(label, id, on) }

// refused: the agent knows of a later generation than it was told. It is asked what it
// runs, and told again after a while.
func (s *singles) refused(label string, id requestID, on nodeID, why string) {
	s.asked(label, id, on)
	if x := s.all[label]; x != nil {
		s.penalize(x, fmt.Sprintf("%s does not stop it: %s", on.name, why))
		s.fleet.askAnew(s.fleet.nodes[on])
	}
}

func (s *singles) found(label string, on nodeID, actor reported) { s.asked(label, actor.ID, on) }

// lost: what ran on that node is nobody's, until its anchor says whose it is.
func (s *singles) lost(on nodeID) {
	for _, x := range s.all {
		if x.on != on {
			continue
		}
		s.touch(x)
		x.expected = false
		if x.stays() && !x.unused {
			x.unplace()
		}
	}
}

// leaving reports whether an instance is about to be moved away from a node.
func (s *singles) leaving(on nodeID) bool {
	for _, x := range s.all {
		if _, ok := s.elsewhere(x); ok && x.on == on && s.isListed {
			return true
		}
	}
	return false
}

// taken reports whether a label belongs to a spec.
func (s *singles) taken(label string) bool {
	return slices.ContainsFunc(s.fleet.tenants, func(t tenant) bool { return t != tenant(s) && t.owns(label) })
}
