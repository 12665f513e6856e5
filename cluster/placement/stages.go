package placement

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// MoreRoom touches the specs on no node.
func (s *specs) MoreRoom() {
	for label := range s.nodeless {
		s.nodes.Touch(label)
	}
}

// Review also has the followers of the label reviewed.
func (s *specs) Review(label string) {
	for follower := range s.followers[label] {
		s.touch(follower)
	}
	if r := s.removals[label]; r != nil {
		s.finish(label, r)
	}
	if it := s.all[label]; it != nil {
		s.changed[label] = true
		s.review(it)
	}
}

func (s *specs) review(it *item) {
	switch it.stage {
	case placed:
		it.review(s)
	case waiting:
		s.awaitReturn(it)
	case unplaced:
		s.place(it)
	case leaving:
	}
}

// review takes an actor back that was to start beside another one, which is not there any more. It
// stops an actor that has to move, and starts one whose turn has come.
func (it *item) review(s *specs) {
	follower, starts := home.FollowerOn(s.nodes, it.on, it.Label)
	cause := it.cause(s)
	switch {
	case starts && follower.Stranded():
		s.enter(it, leaving)
		if follower.Withdraw() {
			s.redistribute(it)
		}
	case cause != "":
		s.moves[cause]++
		s.enter(it, leaving)
		s.nodes.Stop(it.on, it.Label, cause)
	case starts:
		follower.Resume()
	}
}

// misplaced reports whether the actor with which it is colocated is on another node, to which it
// could move.
func (it *item) misplaced(f *home.Nodes) bool {
	if it.Constraints.ColocateWith == "" {
		return false
	}
	at, ok := f.NodeOf(it.Constraints.ColocateWith)
	n, _ := f.Member(at.Name)
	return ok && at != it.on && at == home.IDOf(n) && n.Alive()
}

// mayDrain reports whether it is on a node that is being drained while another node is eligible.
func (s *specs) mayDrain(it *item) bool {
	if !s.nodes.Draining(it.on) {
		return false
	}
	_, err := s.choose(it.Spec)
	return err == nil
}

// awaitReturn starts an actor on the node it waits for, if that node is back. When the wait is over
// or has become pointless, the actor is placed on any node. A wait is pointless if the actor with
// which it is colocated runs elsewhere, or if the node no longer meets its constraints.
func (s *specs) awaitReturn(it *item) {
	target := it.Constraints.ColocateWith
	at, settled := s.nodes.NodeOf(target)
	n, back := s.nodes.Member(it.on.Name)
	switch {
	case !s.nodes.Now().Before(it.until), settled && at.Name != it.on.Name:
		s.redistribute(it)
	case !back || !n.Alive() || target != "" && !settled || len(s.nodes.PlacesOf(it.Label)) > 0:
	case violates(n, it.Constraints, s.beside(it.Spec)) != "":
		s.redistribute(it)
	default:
		s.start(it, Decision{Label: it.Label, Node: n.Name, Strategy: it.OnCrash.String()})
	}
}

func (s *specs) redistribute(it *item) {
	s.enter(it, unplaced)
	s.place(it)
}

// place starts it on a node, if one is eligible and the next attempt is due.
func (s *specs) place(it *item) {
	if s.nodes.Now().Before(it.retryAt) || len(s.nodes.PlacesOf(it.Label)) > 0 {
		return
	}
	d, err := s.choose(it.Spec, it.failedOn...)
	switch {
	case isStrategyError(err):
		s.retry(it, home.NodeID{}, err.Error())
	case err == nil:
		s.start(it, d)
	}
}

// start requests the actor from the chosen node, where it begins after the one that it is colocated
// with.
func (s *specs) start(it *item, d Decision) {
	n, ok := s.nodes.Member(d.Node)
	if !ok {
		return
	}
	it.decision, it.startedAt = d, time.Time{}
	s.enter(it, placed)
	it.on, it.request = home.IDOf(n), home.RequestID{}
	it.request = s.nodes.StartBeside(it.on, it.Constraints.ColocateWith, it.startRequest())
}
