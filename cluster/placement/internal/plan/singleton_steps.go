package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// notice remembers whose places have changed; all is set when any node has.
func (s *singletons) notice(labels map[string]bool, all bool) {
	for label := range labels {
		if s.all[label] != nil {
			s.dirty[label] = true
		}
	}
	if all {
		s.touchAll()
	}
}

func (s *singletons) touchAll() {
	for label := range s.all {
		s.dirty[label] = true
	}
}

// reconcile does what is next for everything about which something has changed.
func (s *singletons) reconcile() {
	s.expireCalls()
	s.relist()
	for _, label := range s.due.pass(s.nodes.now) {
		s.dirty[label] = true
	}
	if !s.listed {
		return
	}
	if settled := s.nodes.settled(); settled != s.settled {
		s.settled = settled
		s.touchAll()
	}
	for len(s.dirty) > 0 {
		labels := slices.Sorted(maps.Keys(s.dirty))
		s.dirty = map[string]bool{}
		for _, label := range labels {
			if x := s.all[label]; x != nil {
				s.settle(x)
				s.store(x)
			}
		}
	}
}

// settle does the next thing for x: first what is not wanted is stopped, and only when
// nothing can run any more it is started.
func (s *singletons) settle(x *singleton) {
	s.stopUnwanted(x)
	s.verify(x)
	switch {
	case s.occupied(x):
		s.follow(x)
	case x.ending, !x.registered && !x.specUncertain && x.asking == nil:
		s.finish(x)
		return
	case x.moving():
		x.grant, x.unused, x.next = x.next, true, grant{}
		x.drainUntil = time.Time{}
		s.place(x)
	default:
		s.place(x)
	}
}

// reassure finds out what has come of calls that seem to have failed: nobody knows whether
// they have happened. A spec is kept again, or forgotten if there is none to be; but what
// has been forgotten stays so, and ends.
func (s *singletons) verify(x *singleton) {
	switch {
	case !s.mayAsk(x):
	case x.specUncertain && !x.registered:
		s.call(x, question{purpose: toVerify, op: OpForget})
	case x.stopUncertain:
		s.call(x, question{purpose: toVerify, op: OpClaimSeq})
	case x.specUncertain:
		s.call(x, question{purpose: toVerify, op: OpPutSpec, spec: x.spec})
	}
}

// mayAsk reports whether it is time to call the source without having been told to.
func (s *singletons) mayAsk(x *singleton) bool {
	return !x.ending && x.asking == nil && s.ready(x)
}

// ready reports whether what has failed may be tried again.
func (s *singletons) ready(x *singleton) bool { return !s.nodes.now.Before(x.retryAt) }

// sift stops what is not wanted. What was found and is wanted it asks for once more, by the
// same request, as it may have ended since its node has reported it.
func (s *singletons) stopUnwanted(x *singleton) {
	if !s.ready(x) {
		return
	}
	for _, p := range s.places(x) {
		if _, has := s.instance(x); !has && !x.overdue[p.start.ID] {
			s.recognize(x, p)
		}
		switch {
		case p.phase == stopping, s.wanted(x, p) && !p.orphan:
		case s.wanted(x, p):
			r := x.startRequest(p.start.Generation)
			r.ID = x.request
			s.nodes.start(p.on, r)
		default:
			s.nodes.stop(p.on, x.label)
		}
	}
	n, known := s.nodes.node(x.on)
	x.expected = x.expected && known && !n.Ready
}

// recognize knows what was found as its own instance.
func (s *singletons) recognize(x *singleton, p place) {
	x.on, x.request, x.expected = p.on, p.start.ID, false
	if x.askedGeneration.Less(p.start.Generation) {
		x.askedGeneration = p.start.Generation
	}
}

// wanted reports whether p is the instance of the owner. What a former coordinator has
// started is so, too.
func (s *singletons) wanted(x *singleton, p place) bool {
	return x.stays() && p.on == x.on && p.start.ID == x.request &&
		p.on.name == x.grant.owner && p.start.Generation.Term == x.grant.generation.Term
}

// places returns where x is or may be; what a spec of that label has is not its own.
func (s *singletons) places(x *singleton) []place {
	if s.isSpec(x.label) {
		return nil
	}
	return s.nodes.placesOf(x.label)
}

// occupied reports whether an instance may run, other than those that have had their time
// to end.
func (s *singletons) occupied(x *singleton) bool {
	places := s.places(x)
	if !x.drainUntil.IsZero() && !s.nodes.now.Before(x.drainUntil) {
		x.drainUntil, x.expected, x.overdue = time.Time{}, false, map[RequestID]bool{}
		for _, p := range places {
			x.overdue[p.start.ID] = true
		}
	}
	return x.expected || slices.ContainsFunc(places, func(p place) bool { return !x.overdue[p.start.ID] })
}

// follow moves what runs to where its anchor is now. While no other node is eligible it
// stays.
func (s *singletons) follow(x *singleton) {
	if to, ok := s.moveTarget(x); ok && s.mayAsk(x) {
		s.call(x, question{purpose: toMove, op: OpClaimTerm, owner: to})
	}
}

// elsewhere returns where x is to be moved, as it must not stay where it runs.
func (s *singletons) moveTarget(x *singleton) (owner string, ok bool) {
	p, runs := s.instance(x)
	if !runs || !s.wanted(x, p) || x.spec.Anchor.keeps(p.on, s.nodes.view(), s.cfg.Election) {
		return "", false
	}
	n, err := x.spec.Anchor.resolve(x.label, s.nodes.view(), s.cfg.Election, nil)
	return n.Name, err == nil && n.Name != p.on.name
}

// place starts what runs nowhere: on its owner if no instance has used the grant yet; else
// by a new grant, of the next number when it is started again on the same node, of the
// next term when it was elsewhere.
func (s *singletons) place(x *singleton) {
	if !x.registered || !s.mayAsk(x) || !s.nodes.settled() {
		return
	}
	if s.isSpec(x.label) {
		x.unplace()
		x.why = fmt.Sprintf("%v: a spec has the label %q; remove it", ErrExists, x.label)
		return
	}
	v := s.nodes.view()
	if n, ok := x.spec.Anchor.admits(x.grant.owner, v, s.cfg.Election); ok && x.unused {
		s.launch(x, nodeID{name: n.Name, incarnation: n.Incarnation})
		return
	}
	n, err := x.spec.Anchor.resolve(x.label, v, s.cfg.Election, x.failed)
	switch {
	case err != nil:
		x.grant.owner, x.unused = "", false
		if x.attempts == 0 {
			x.why = err.Error()
		}
	case x.on == nodeID{name: n.Name, incarnation: n.Incarnation} && x.grant.owner == n.Name:
		s.call(x, question{purpose: toOwn, op: OpClaimSeq, owner: n.Name})
	default:
		x.grant.owner, x.unused = "", false
		s.call(x, question{purpose: toOwn, op: OpClaimTerm, owner: n.Name})
	}
}

// launch asks a node for an instance.
func (s *singletons) launch(x *singleton, on nodeID) {
	x.unused, x.on, x.askedGeneration = false, on, x.grant.generation
	x.request = s.nodes.start(on, x.startRequest(x.askedGeneration))
}

// finish forgets what has ended, and tells who waits for that.
func (s *singletons) finish(x *singleton) {
	delete(s.all, x.label)
	for _, to := range x.stopTokens {
		s.answer(to, nil, nil)
	}
}

// note has the journal know what is new. What a spec has the label of is not noted: the
// journal has one entry for each, and that is the spec's.
func (s *singletons) store(x *singleton) {
	defer s.wake(x)
	if s.isSpec(x.label) {
		return
	}
	now, keep := s.record(x)
	was, kept := s.stored[x.label]
	switch {
	case keep && (!kept || !now.same(was)):
		s.stored[x.label] = now
		s.news = append(s.news, Fact{Label: x.label, Record: &now})
	case kept && !keep:
		delete(s.stored, x.label)
		s.news = append(s.news, Fact{Label: x.label})
	}
}

// wake sets when x is looked at though nothing has happened.
func (s *singletons) wake(x *singleton) {
	var e earliest
	if s.all[x.label] == x {
		e.add(x.retryAt, s.nodes.now.Before(x.retryAt))
		e.add(x.drainUntil, !x.drainUntil.IsZero())
	}
	if e.ok {
		s.due.set(x.label, e.at)
	} else {
		s.due.clear(x.label)
	}
}

// facts returns what is to be stored, once.
func (s *singletons) facts() []Fact {
	news := s.news
	s.news = nil
	return news
}
