package plan

import (
	"fmt"
	"slices"
)

// asked returns the singleton whose last instance was asked for by that request.
func (s *singletons) byRequest(label string, id RequestID, on nodeID) *singleton {
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

func (s *singletons) started(label string, id RequestID, on nodeID) {
	if x := s.byRequest(label, id, on); x != nil {
		x.why, x.failed, x.since = "", nil, s.nodes.now
	}
}

func (s *singletons) failed(label string, id RequestID, on nodeID, why string) {
	if x := s.byRequest(label, id, on); x != nil && x.stays() {
		x.failed = append(x.failed, on.name)
		s.backOff(x, fmt.Sprintf("it did not start on %s: %s", on.name, why))
	}
}

// ended: it is started again on the same node, after a while; the longer, the more often
// it has ended without having run for long.
func (s *singletons) ended(label string, id RequestID, on nodeID, why string) {
	x := s.byRequest(label, id, on)
	if x == nil || !x.stays() {
		return
	}
	if s.nodes.now.Sub(x.since) >= s.cfg.RetryMax {
		x.attempts = 0
	}
	if why == "" {
		why = "it has stopped by itself"
	}
	s.backOff(x, fmt.Sprintf("it has ended on %s: %s", on.name, why))
}

func (s *singletons) stopped(label string, id RequestID, on nodeID) { s.byRequest(label, id, on) }

// refused: the agent knows of a later generation than it was told. It is asked what it
// runs, and told again after a while.
func (s *singletons) refused(label string, id RequestID, on nodeID, why string) {
	s.byRequest(label, id, on)
	if x := s.all[label]; x != nil {
		s.backOff(x, fmt.Sprintf("%s does not stop it: %s", on.name, why))
		s.nodes.requestFullReport(s.nodes.known[on])
	}
}

func (s *singletons) found(label string, on nodeID, actor Reported) { s.byRequest(label, actor.ID, on) }

// lost: what ran on that node is nobody's, until its anchor says whose it is.
func (s *singletons) lost(on nodeID) {
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
func (s *singletons) leaving(on nodeID) bool {
	for _, x := range s.all {
		if _, ok := s.moveTarget(x); ok && x.on == on && s.listed {
			return true
		}
	}
	return false
}

// taken reports whether a label belongs to a spec.
func (s *singletons) isSpec(label string) bool {
	return slices.ContainsFunc(s.nodes.workloads, func(t workload) bool { return t != workload(s) && t.owns(label) })
}
