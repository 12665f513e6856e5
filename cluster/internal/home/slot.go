package home

import (
	"fmt"

	"github.com/understudy-go/understudy/singleton"
)

// A slot has everything that an agent knows about one label.
type slot struct {
	label    string
	latest   RequestID     // the latest request; earlier ones are superseded
	why      Ending        // why the actor of latest does not run; zero while it may run
	actor    *slotActor    // that has not terminated; or nil
	next     *StartRequest // the latest request, while it waits for the end of actor
	entombed bool          // the label is among the tombstones

	unconfirmed *Ended // sent, and not acknowledged
}

// An Ending is why an actor has ended.
type Ending struct {
	Text     string // "" if it has stopped by itself
	FencedBy uint64 // the later term that has claimed its journal, or 0
}

// A slotActor is an actor that has been launched and has not terminated.
type slotActor struct {
	id         RequestID
	generation singleton.Generation
	started    bool
	answered   bool   // a StartAck has been sent
	stopping   bool   // for any reason
	stopEpoch  uint64 // of the last StopRequest; 0 for none
	reportedIn uint64 // the epoch of the last report that contained it
}

// holds reports whether the slot has the actor of a request.
func (s *slot) holds(id RequestID) bool { return s.actor != nil && s.actor.id == id }

// Keeps reports whether the actor of a request has started and is not being stopped.
func (a *Agent) Keeps(label string, id RequestID) bool {
	s := a.slots[label]
	return !a.closing && s != nil && s.holds(id) && s.actor.started && !s.actor.stopping
}

// empty reports whether the slot has neither an actor nor a waiting request.
func (s *slot) empty() bool { return s.actor == nil && s.next == nil }

// report returns the entries for the slot in a report of that epoch.
func (s *slot) report(epoch uint64) (all []Reported) {
	if s.actor != nil {
		s.actor.reportedIn = epoch
		all = append(all, Reported{ID: s.actor.id, Label: s.label, Generation: s.actor.generation, Started: s.actor.started})
	}
	if s.next != nil {
		all = append(all, Reported{ID: s.next.ID, Label: s.label, Generation: s.next.Generation})
	}
	return all
}

func (a *Agent) slot(label string) *slot {
	s := a.slots[label]
	if s == nil {
		s = &slot{label: label}
		a.slots[label] = s
	}
	return s
}

// start handles a StartRequest.
func (a *Agent) start(r StartRequest) {
	s := a.slot(r.Label)
	switch {
	case s.holds(r.ID):
		a.startAgain(s)
	case r.ID.less(s.latest):
		a.ackStart(r.Label, r.ID, Ending{Text: replacedBy(s.latest)})
	case r.ID == s.latest:
		if s.next == nil {
			a.ackStart(r.Label, r.ID, s.why)
		}
	default:
		a.startNew(s, r)
	}
}

// startAgain handles a repeated request whose actor is in the slot.
func (a *Agent) startAgain(s *slot) {
	switch {
	case s.actor.stopping:
		s.actor.answered = false // it will be answered when the actor has terminated
	case s.actor.answered:
		a.ackStart(s.label, s.actor.id, Ending{})
	}
}

// startNew handles a request that is later than all previous ones.
func (a *Agent) startNew(s *slot, r StartRequest) {
	if s.next != nil {
		a.refuse(s, replacedBy(r.ID))
	}
	s.latest, s.why, s.unconfirmed = r.ID, Ending{}, nil
	switch {
	case a.closing:
		a.fail(s, r.ID, WhyClosing)
	case s.actor == nil:
		a.launch(s, r)
	case outranks(s.actor.generation, r.Generation):
		a.fail(s, r.ID, fmt.Sprintf("an instance of generation %v runs on %s, which is later than %v", s.actor.generation, a.node, r.Generation))
	default:
		s.next = &r
		s.actor.reportedIn = 0
		a.halt(s)
	}
}

// outranks reports whether a running instance has a later generation than the requested one. An
// actor without a generation is never outranked.
func outranks(runs, asked singleton.Generation) bool {
	return asked != (singleton.Generation{}) && asked.Less(runs)
}

func (a *Agent) launch(s *slot, r StartRequest) {
	s.actor, s.next = &slotActor{id: r.ID, generation: r.Generation}, nil
	a.emit(Launch{r})
}

// refuse gives up the request that waits.
func (a *Agent) refuse(s *slot, why string) {
	id := s.next.ID
	s.next = nil
	a.fail(s, id, why)
}

// fail answers a request whose actor does not run.
func (a *Agent) fail(s *slot, id RequestID, why string) {
	if id == s.latest {
		s.why = Ending{Text: why}
	}
	a.ackStart(s.label, id, Ending{Text: why})
	a.entomb(s)
}

// WhyStopped is why an actor is not started when its request has been withdrawn.
const WhyStopped = "it was stopped before it had started"

// stop handles a StopRequest. The StartRequest of the same ID may come later.
func (a *Agent) stop(r StopRequest) {
	s := a.slot(r.Label)
	switch {
	case s.holds(r.ID):
		a.stopActor(s, r)
		return
	case s.next != nil && s.next.ID == r.ID:
		a.refuse(s, WhyStopped)
	case s.latest.less(r.ID):
		if s.next != nil {
			a.refuse(s, replacedBy(r.ID))
		}
		s.latest, s.why = r.ID, Ending{Text: WhyStopped}
	}
	if s.unconfirmed != nil && !r.ID.less(s.unconfirmed.ID) {
		s.unconfirmed = nil
	}
	a.ackStop(r.Label, r.ID, "")
	a.entomb(s)
}

func (a *Agent) stopActor(s *slot, r StopRequest) {
	if r.Generation.Less(s.actor.generation) {
		a.ackStop(s.label, r.ID, fmt.Sprintf("it runs under generation %v, which is later than %v", s.actor.generation, r.Generation))
		return
	}
	s.actor.stopEpoch = a.epoch
	a.halt(s)
}

func (a *Agent) halt(s *slot) {
	if !s.actor.stopping {
		s.actor.stopping = true
		a.emit(Halt{label: s.label, ID: s.actor.id})
	}
}

func (a *Agent) started(s *slot) {
	if s.actor.started {
		return
	}
	s.actor.started = true
	if !s.actor.stopping {
		s.actor.answered = true
		a.ackStart(s.label, s.actor.id, Ending{})
	}
}

// ended handles the end of the actor in s: it answers or reports it, and starts the actor that
// waits.
func (a *Agent) ended(s *slot, why Ending) {
	was := *s.actor
	s.actor = nil
	a.reportEnd(s, was, why)
	if was.id == s.latest {
		s.why = whyEnded(was, why)
	}
	if s.next != nil {
		a.launch(s, *s.next)
		return
	}
	a.entomb(s)
}

func (a *Agent) reportEnd(s *slot, was slotActor, why Ending) {
	if !was.answered {
		a.ackStart(s.label, was.id, whyEnded(was, why))
	}
	switch {
	case was.stopEpoch != 0 && was.stopEpoch == a.epoch:
		a.ackStop(s.label, was.id, "")
	case a.closing, s.next != nil:
	case !was.stopping && was.started, was.stopping && was.reportedIn != 0 && was.reportedIn == a.epoch:
		s.unconfirmed = &Ended{ID: was.id, Label: s.label, Error: why.Text, FencedBy: why.FencedBy}
		a.tell(FromAgent{Ended: s.unconfirmed})
	}
}

// whyEnded returns why an actor that has ended does not run.
func whyEnded(was slotActor, why Ending) Ending {
	switch {
	case was.stopping && !was.started:
		why.Text = WhyStopped
	case was.stopping:
		why.Text = "it has been stopped"
	case why.Text != "":
	case !was.started:
		why.Text = "it has stopped by itself before it had started"
	default:
		why.Text = "it has stopped by itself"
	}
	return why
}

// maxTombstones is how many empty slots are remembered, to answer requests that come late or twice.
const maxTombstones = 4096

// entomb remembers an empty slot, and forgets the oldest ones beyond maxTombstones.
func (a *Agent) entomb(s *slot) {
	if s.actor != nil || s.entombed {
		return
	}
	s.entombed = true
	a.tombstones = append(a.tombstones, s.label)
	for len(a.tombstones) > maxTombstones {
		a.expire(a.tombstones[0])
		a.tombstones = a.tombstones[1:]
	}
}

// expire forgets a slot, unless it has an actor again.
func (a *Agent) expire(label string) {
	s := a.slots[label]
	s.entombed = false
	if s.empty() && s.unconfirmed == nil {
		delete(a.slots, label)
	}
}
