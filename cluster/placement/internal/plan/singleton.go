package plan

import "time"

// A single is what is known of one singleton. Where it runs the fleet knows.
type singleton struct {
	label      string
	spec       SingletonSpec
	registered bool // the source has it; else it is about to be started, or what is left of it ends

	// grant is who owns it, by the source; without an owner it is the last that there was.
	// unused means that no instance has been asked for by it.
	grant  grant
	unused bool
	next   grant // who owns it when the instance that there is has ended; zero when it stays
	ending bool  // it has been forgotten at the source, and is gone when its instance has ended

	on              nodeID             // where an instance was asked for last
	request         RequestID          // by which
	askedGeneration Generation         // the highest generation that an instance was asked for with
	recorded        bool               // the journal of a former coordinator has told so
	expected        bool               // by that one, and its node has not reported
	drainUntil      time.Time          // until when an instance may take to end; zero for as long as it takes
	overdue         map[RequestID]bool // instances that are waited for no more

	asking        *question  // what the source is asked for it; nil when it is not
	granted       Generation // the last that the source has granted, to whomever
	call          RequestID  // the number of the last call by which it was to keep or to forget the spec
	specUncertain bool       // the source may not have the spec as it is here
	stopUncertain bool       // it may have forgotten it, though who has asked for that was told of an error
	requests      []Input    // wait until the source has answered
	stopTokens    []Token    // who waits for its end

	attempts int       // that have failed since it ran well
	retryAt  time.Time // before which nothing is tried again
	why      string    // of the last failure; "" since it runs
	failed   []string  // names of nodes where it did not start, since it ran
	since    time.Time // when it was heard to run
}

// A grant says that a node is to own a singleton.
type grant struct {
	owner      string
	generation Generation
}

func (x *singleton) moving() bool { return x.next != grant{} }

// stays reports whether x is to go on where it is.
func (x *singleton) stays() bool { return x.registered && !x.ending && !x.moving() }

// calm forgets failures: what comes next is tried at once.
func (x *singleton) resetFailures() {
	x.attempts, x.retryAt, x.why, x.failed = 0, time.Time{}, "", nil
}

// unplace: nothing of it runs any more, so it is nobody's. Its generation stays.
func (x *singleton) unplace() {
	x.grant.owner, x.unused = "", false
	x.resetFailures()
}

func (x *singleton) startRequest(g Generation) StartRequest {
	return StartRequest{Label: x.label, Type: x.spec.Type, State: x.spec.State, Generation: g}
}

// instance returns what is known of the instance that was asked for last.
func (s *singletons) instance(x *singleton) (p place, ok bool) {
	p, ok = s.nodes.place(x.on, x.label)
	return p, ok && p.start.ID == x.request
}

func (s *singletons) phase(x *singleton) SingletonPhase {
	p, has := s.instance(x)
	switch {
	case x.ending, x.moving():
		return SingletonDraining
	case x.grant.owner == "":
		return SingletonOwnerless
	case has && p.phase == running:
		return SingletonActive
	}
	return SingletonStarting
}

// shown returns what people are told of x.
func (s *singletons) describe(x *singleton) Ownership {
	return Ownership{Label: x.label, Owner: x.grant.owner, Generation: x.grant.generation, Phase: s.phase(x), Error: x.why}
}

// record returns what the journal is to have: that the label is taken, and where an
// instance may run. It is written together with the request that starts the instance, so
// a new coordinator knows which node it has to hear of before it starts another. Also all
// that the source has granted, and each call that changes what it keeps, leaves a mark: so
// a coordinator that has been replaced, and does not know, is refused by the journal before
// it acts on a grant, tells somebody of it, or changes anything at the source.
func (s *singletons) record(x *singleton) (r record, keep bool) {
	p, has := s.instance(x)
	if s.all[x.label] != x || x.granted == (Generation{}) {
		return record{}, false
	}
	r = record{Generation: x.askedGeneration, Granted: x.granted, Removed: x.ending}
	if x.specUncertain || x.stopUncertain || x.asking.changes() {
		r.Call = x.call
	}
	switch {
	case has:
		r.Node, r.Incarnation, r.Request = p.on.name, p.on.incarnation, x.request
	case x.expected:
		r.Node, r.Incarnation, r.Request = x.on.name, x.on.incarnation, x.request
	}
	return r, true
}

// install makes g the owner: at once where nothing runs, else when that has ended.
func (s *singletons) install(x *singleton, g grant) {
	x.resetFailures()
	if s.occupied(x) {
		x.next = g
		s.startDrain(x)
		return
	}
	x.grant, x.unused = g, true
}

// giveTime lets the instance that there is take as long to end as the spec says.
func (s *singletons) startDrain(x *singleton) {
	x.drainUntil = time.Time{}
	if x.spec.DrainTimeout > 0 {
		x.drainUntil = s.nodes.now.Add(x.spec.DrainTimeout)
	}
}

// penalize has the next attempt wait, the longer the more have failed.
func (s *singletons) backOff(x *singleton, why string) {
	x.attempts++
	x.why = why
	x.retryAt = s.nodes.now.Add(s.cfg.delay(x.attempts))
}
