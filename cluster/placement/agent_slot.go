package placement

import "fmt"

// An agentSlot is what an agent knows of one label.
type agentSlot struct {
	label  string
	latest requestID     // of all requests so far; what comes of an earlier one is out of date
	why    string        // latest does not run, if that has ended
	actor  *agentActor   // that has not terminated; nil for none
	next   *startRequest // latest, when it waits for the end of actor
	buried bool          // it is among the graves

	unheard *ended // the coordinator may not know of
}

// An agentActor has been launched, and has not terminated.
type agentActor struct {
	id         requestID
	generation Generation
	started    bool
	answered   bool   // there has been a startAck
	stopping   bool   // by whoever wants it
	stopAsked  uint64 // the epoch of the last stopRequest; 0 for none
	shown      uint64 // the epoch of the last report with it
}

// holds reports whether the actor of a request is in the slot.
func (s *agentSlot) holds(id requestID) bool { return s.actor != nil && s.actor.id == id }

// keeps reports whether the actor of a request has started, and nobody wants it to stop.
func (a *agentCore) keeps(label string, id requestID) bool {
	s := a.slots[label]
	return !a.closing && s != nil && s.holds(id) && s.actor.started && !s.actor.stopping
}

// empty reports whether nothing is in the slot, nor waits for its turn.
func (s *agentSlot) empty() bool { return s.actor == nil && s.next == nil }

// shown returns what a report of that epoch has of the slot.
func (s *agentSlot) shown(epoch uint64) (all []reported) {
	if s.actor != nil {
		s.actor.shown = epoch
		all = append(all, reported{ID: s.actor.id, Label: s.label, Generation: s.actor.generation, Started: s.actor.started})
	}
	if s.next != nil {
		all = append(all, reported{ID: s.next.ID, Label: s.label, Generation: s.next.Generation})
	}
	return all
}

func (a *agentCore) slot(label string) *agentSlot {
	s := a.slots[label]
	if s == nil {
		s = &agentSlot{label: label}
		a.slots[label] = s
	}
	return s
}

// start takes a request to start something.
func (a *agentCore) start(r startRequest) {
	s := a.slot(r.Label)
	switch {
	case s.holds(r.ID):
		a.startAgain(s)
	case r.ID.less(s.latest):
		a.ackStart(r.Label, r.ID, replacedBy(s.latest))
	case r.ID == s.latest:
		if s.next == nil {
			a.ackStart(r.Label, r.ID, s.why)
		}
	default:
		a.startNew(s, r)
	}
}

// startAgain answers for an actor that is there.
func (a *agentCore) startAgain(s *agentSlot) {
	switch {
	case s.actor.stopping:
		s.actor.answered = false // it will be when it has terminated
	case s.actor.answered:
		a.ackStart(s.label, s.actor.id, "")
	}
}

// startNew takes a request that is later than all before.
func (a *agentCore) startNew(s *agentSlot, r startRequest) {
	if s.next != nil {
		a.refuse(s, replacedBy(r.ID))
	}
	s.latest, s.why, s.unheard = r.ID, "", nil
	switch {
	case a.closing:
		a.fail(s, r.ID, whyClosing)
	case s.actor == nil:
		a.launch(s, r)
	case outranks(s.actor.generation, r.Generation):
		a.fail(s, r.ID, fmt.Sprintf("an instance of generation %v runs here, which is later than %v", s.actor.generation, r.Generation))
	default:
		s.next = &r
		s.actor.shown = 0
		a.halt(s)
	}
}

// outranks reports whether an instance is later than what is asked for; what has no
// generation has no rank.
func outranks(runs, asked Generation) bool {
	return asked != (Generation{}) && asked.Less(runs)
}

func (a *agentCore) launch(s *agentSlot, r startRequest) {
	s.actor, s.next = &agentActor{id: r.ID, generation: r.Generation}, nil
	a.do(launch{r})
}

// refuse gives up the request that waits.
func (a *agentCore) refuse(s *agentSlot, why string) {
	id := s.next.ID
	s.next = nil
	a.fail(s, id, why)
}

// fail says that a request has led to nothing.
func (a *agentCore) fail(s *agentSlot, id requestID, why string) {
	if id == s.latest {
		s.why = why
	}
	a.ackStart(s.label, id, why)
	a.bury(s)
}

const whyStopped = "it was stopped before it had started"

// stop takes a request to stop something.
func (a *agentCore) stop(r stopRequest) {
	s := a.slot(r.Label)
	switch {
	case s.holds(r.ID):
		a.stopActor(s, r)
		return
	case s.next != nil && s.next.ID == r.ID:
		a.refuse(s, whyStopped)
	case s.latest.less(r.ID): // it may come later
		if s.next != nil {
			a.refuse(s, replacedBy(r.ID))
		}
		s.latest, s.why = r.ID, whyStopped
	}
	if s.unheard != nil && !r.ID.less(s.unheard.ID) {
		s.unheard = nil
	}
	a.ackStop(r.Label, r.ID, "")
	a.bury(s)
}

func (a *agentCore) stopActor(s *agentSlot, r stopRequest) {
	if r.Generation.Less(s.actor.generation) {
		a.ackStop(s.label, r.ID, fmt.Sprintf("it runs under generation %v, which is later than %v", s.actor.generation, r.Generation))
		return
	}
	s.actor.stopAsked = a.epoch
	a.halt(s)
}

func (a *agentCore) halt(s *agentSlot) {
	if !s.actor.stopping {
		s.actor.stopping = true
		a.do(halt{label: s.label, id: s.actor.id})
	}
}

func (a *agentCore) started(s *agentSlot) {
	if s.actor.started {
		return
	}
	s.actor.started = true
	if !s.actor.stopping {
		s.actor.answered = true
		a.ackStart(s.label, s.actor.id, "")
	}
}

// ended takes the end of the actor in s, says what is to be said of it, and starts what
// waits for it.
func (a *agentCore) ended(s *agentSlot, why string) {
	was := *s.actor
	s.actor = nil
	a.sayEnded(s, was, why)
	if was.id == s.latest {
		s.why = whyEnded(was, why)
	}
	if s.next != nil {
		a.launch(s, *s.next)
		return
	}
	a.bury(s)
}

func (a *agentCore) sayEnded(s *agentSlot, was agentActor, why string) {
	if !was.answered {
		a.ackStart(s.label, was.id, whyEnded(was, why))
	}
	switch {
	case was.stopAsked != 0 && was.stopAsked == a.epoch:
		a.ackStop(s.label, was.id, "")
	case a.closing, s.next != nil:
	case !was.stopping && was.started, was.stopping && was.shown != 0 && was.shown == a.epoch:
		s.unheard = &ended{ID: was.id, Label: s.label, Error: why}
		a.say(fromAgent{Ended: s.unheard})
	}
}

// whyEnded says why an actor does not run that has ended.
func whyEnded(was agentActor, why string) string {
	switch {
	case was.stopping && !was.started:
		return whyStopped
	case was.stopping:
		return "it has been stopped"
	case why != "":
		return why
	case !was.started:
		return "it has stopped by itself before it had started"
	}
	return "it has stopped by itself"
}

// maxGraves is how many labels are remembered of which nothing is left but how it ended,
// for requests that come late or again.
const maxGraves = 4096

// bury remembers a slot for a while in which there is nothing.
func (a *agentCore) bury(s *agentSlot) {
	if s.actor != nil || s.buried {
		return
	}
	s.buried = true
	a.graves = append(a.graves, s.label)
	for len(a.graves) > maxGraves {
		a.clear(a.graves[0])
		a.graves = a.graves[1:]
	}
}

// clear forgets a slot, unless there is something in it again.
func (a *agentCore) clear(label string) {
	s := a.slots[label]
	s.buried = false
	if s.empty() && s.unheard == nil {
		delete(a.slots, label)
	}
}
