package placement

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// notice remembers whose places have changed; all is set when any node has.
func (s *singles) notice(labels map[string]bool, all bool) {
	for label := range labels {
		if s.all[label] != nil {
			s.dirty[label] = true
		}
	}
	if all {
		s.touchAll()
	}
}

func (s *singles) touchAll() {
	for label := range s.all {
		s.dirty[label] = true
	}
}

// reconcile does what is next for everything about which something has changed.
func (s *singles) reconcile() {
	s.expire()
	s.relist()
	for _, label := range s.due.pass(s.fleet.now) {
		s.dirty[label] = true
	}
	if !s.isListed {
		return
	}
	if settled := s.fleet.settled(); settled != s.settled {
		s.settled = settled
		s.touchAll()
	}
	for len(s.dirty) > 0 {
		labels := slices.Sorted(maps.Keys(s.dirty))
		s.dirty = map[string]bool{}
		for _, label := range labels {
			if x := s.all[label]; x != nil {
				s.settle(x)
				s.note(x)
			}
		}
	}
}

// settle does the next thing for x: first what is not wanted is stopped, and only when
// nothing can run any more it is started.
func (s *singles) settle(x *single) {
	s.sift(x)
	s.reassure(x)
	switch {
	case s.occupied(x):
		s.follow(x)
	case x.ending, !x.registered && !x.unkept && x.asking == nil:
		s.finish(x)
		return
	case x.moving():
		x.grant, x.unused, x.next = x.next, true, grant{}
		x.giveUp = time.Time{}
		s.place(x)
	default:
		s.place(x)
	}
}

// reassure finds out what has come of calls that seem to have failed: nobody knows whether
// they have happened. A spec is kept again, or forgotten if there is none to be; but what
// has been forgotten stays so, and ends.
func (s *singles) reassure(x *single) {
	switch {
	case !s.mayAsk(x):
	case x.unkept && !x.registered:
		s.ask(x, question{purpose: toReassure, op: forget})
	case x.unstopped:
		s.ask(x, question{purpose: toReassure, op: claimSeq})
	case x.unkept:
		s.ask(x, question{purpose: toReassure, op: putSpec, spec: x.spec})
	}
}

// mayAsk reports whether it is time to call the source without having been told to.
func (s *singles) mayAsk(x *single) bool {
	return !x.ending && x.asking == nil && s.ready(x)
}

// ready reports whether what has failed may be tried again.
func (s *singles) ready(x *single) bool { return !s.fleet.now.Before(x.retryAt) }

// sift stops what is not wanted. What was found and is wanted it asks for once more, by the
// same request, as it may have ended since its node has reported it.
func (s *singles) sift(x *single) {
	if !s.ready(x) {
		return
	}
	for _, p := range s.places(x) {
		if _, has := s.instance(x); !has && !x.spared[p.start.ID] {
			s.recognize(x, p)
		}
		switch {
		case p.phase == stopping, s.wanted(x, p) && !p.stray:
		case s.wanted(x, p):
			r := x.startRequest(p.start.Generation)
			r.ID = x.request
			s.fleet.start(p.on, r)
		default:
			s.fleet.stop(p.on, x.label)
		}
	}
	n, known := s.fleet.node(x.on)
	x.expected = x.expected && known && !n.Ready
}

// recognize knows what was found as its own instance.
func (s *singles) recognize(x *single, p place) {
	x.on, x.request, x.expected = p.on, p.start.ID, false
	if x.asked.Less(p.start.Generation) {
		x.asked = p.start.Generation
	}
}

// wanted reports whether p is the instance of the owner. What a former coordinator has
// started is so, too.
func (s *singles) wanted(x *single, p place) bool {
	return x.stays() && p.on == x.on && p.start.ID == x.request &&
		p.on.name == x.grant.owner && p.start.Generation.Term == x.grant.generation.Term
}

// places returns where x is or may be; what a spec of that label has is not its own.
func (s *singles) places(x *single) []place {
	if s.taken(x.label) {
		return nil
	}
	return s.fleet.at(x.label)
}

// occupied reports whether an instance may run, other than those that have had their time
// to end.
func (s *singles) occupied(x *single) bool {
	places := s.places(x)
	if !x.giveUp.IsZero() && !s.fleet.now.Before(x.giveUp) {
		x.giveUp, x.expected, x.spared = time.Time{}, false, map[requestID]bool{}
		for _, p := range places {
			x.spared[p.start.ID] = true
		}
	}
	return x.expected || slices.ContainsFunc(places, func(p place) bool { return !x.spared[p.start.ID] })
}

// follow moves what runs to where its anchor is now. While no other node is eligible it
// stays.
func (s *singles) follow(x *single) {
	if to, ok := s.elsewhere(x); ok && s.mayAsk(x) {
		s.ask(x, question{purpose: toMove, op: claimTerm, owner: to})
	}
}

// elsewhere returns where x is to be moved, as it must not stay where it runs.
func (s *singles) elsewhere(x *single) (owner string, ok bool) {
	p, runs := s.instance(x)
	if !runs || !s.wanted(x, p) || x.spec.Anchor.keeps(p.on, s.fleet.view(), s.cfg.election) {
		return "", false
	}
	n, err := x.spec.Anchor.resolve(x.label, s.fleet.view(), s.cfg.election, nil)
	return n.Name, err == nil && n.Name != p.on.name
}

// place starts what runs nowhere: on its owner if no instance has used the grant yet; else
// by a new grant, of the next number when it is started again on the same node, of the
// next term when it was elsewhere.
func (s *singles) place(x *single) {
	if !x.registered || !s.mayAsk(x) || !s.fleet.settled() {
		return
	}
	if s.taken(x.label) {
		x.unplace()
		x.why = fmt.Sprintf("%v: a spec has the label %q; remove it", ErrExists, x.label)
		return
	}
	v := s.fleet.view()
	if n, ok := x.spec.Anchor.admits(x.grant.owner, v, s.cfg.election); ok && x.unused {
		s.launch(x, nodeID{name: n.Name, incarnation: n.Incarnation})
		return
	}
	n, err := x.spec.Anchor.resolve(x.label, v, s.cfg.election, x.failed)
	switch {
	case err != nil:
		x.grant.owner, x.unused = "", false
		if x.attempts == 0 {
			x.why = err.Error()
		}
	case x.on == nodeID{name: n.Name, incarnation: n.Incarnation} && x.grant.owner == n.Name:
		s.ask(x, question{purpose: toOwn, op: claimSeq, owner: n.Name})
	default:
		x.grant.owner, x.unused = "", false
		s.ask(x, question{purpose: toOwn, op: claimTerm, owner: n.Name})
	}
}

// launch asks a node for an instance.
func (s *singles) launch(x *single, on nodeID) {
	x.unused, x.on, x.asked = false, on, x.grant.generation
	x.request = s.fleet.start(on, x.startRequest(x.asked))
}

// finish forgets what has ended, and tells who waits for that.
func (s *singles) finish(x *single) {
	delete(s.all, x.label)
	for _, to := range x.stoppers {
		s.answer(to, nil, nil)
	}
}

// note has the journal know what is new. What a spec has the label of is not noted: the
// journal has one entry for each, and that is the spec's.
func (s *singles) note(x *single) {
	defer s.wake(x)
	if s.taken(x.label) {
		return
	}
	now, keep := s.record(x)
	was, kept := s.stored[x.label]
	switch {
	case keep && (!kept || !now.same(was)):
		s.stored[x.label] = now
		s.news = append(s.news, fact{Label: x.label, Record: &now})
	case kept && !keep:
		delete(s.stored, x.label)
		s.news = append(s.news, fact{Label: x.label})
	}
}

// wake sets when x is looked at though nothing has happened.
func (s *singles) wake(x *single) {
	var e earliest
	if s.all[x.label] == x {
		e.add(x.retryAt, s.fleet.now.Before(x.retryAt))
		e.add(x.giveUp, !x.giveUp.IsZero())
	}
	if e.ok {
		s.due.set(x.label, e.at)
	} else {
		s.due.clear(x.label)
	}
}

// facts returns what is to be stored, once.
func (s *singles) facts() []fact {
	news := s.news
	s.news = nil
	return news
}
