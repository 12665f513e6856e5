package placement

import (
	"fmt"
	"maps"
	"slices"

	"github.com/understudy-go/understudy/actor"
)

// An agentCore decides what an agent does. It is pure: it starts no goroutine and reads no
// clock.
//
// For each label there is a slot, with at most one actor in it: what is to take its place
// waits for its end.
type agentCore struct {
	node        string
	maxReport   int    // about how many bytes a report may have
	incarnation uint64 // as a member; 0 while it is none: then nothing is taken
	epoch       uint64 // the highest heard of in this incarnation
	coordinator actor.ActorRef[fromAgent]
	closing     bool // the node stops: nothing starts any more
	slots       map[string]*agentSlot
	graves      []string // labels of slots in which something has ended, the oldest first
	out         []agentAction
}

// An agentEvent is something that happens to an agent.
//
//sumtype:decl
type agentEvent interface{ agentEvent() }

type (
	// agentTold: a coordinator has said something.
	agentTold struct{ msg toAgent }
	// agentMember: the node is a member under this incarnation; 0: it is none any more.
	agentMember struct{ incarnation uint64 }
	// agentStarted: the actor of a launch runs.
	agentStarted struct {
		label string
		id    requestID
	}
	// agentEnded: the actor of a launch has terminated; or there never was one.
	agentEnded struct {
		label string
		id    requestID
		why   string // "" when it has stopped by itself
	}
	// agentPassed: some time has passed. It matters after an ended has been said, until one
	// leads to nothing being said.
	agentPassed struct{}
	// agentClosing: the node stops.
	agentClosing struct{}
)

func (agentTold) agentEvent()    {}
func (agentMember) agentEvent()  {}
func (agentStarted) agentEvent() {}
func (agentEnded) agentEvent()   {}
func (agentPassed) agentEvent()  {}
func (agentClosing) agentEvent() {}

// An agentAction is something for the agent to do, in order.
//
//sumtype:decl
type agentAction interface{ agentAction() }

type (
	// launch starts an actor. agentStarted is to follow, unless it ends before; and
	// agentEnded, once.
	launch struct{ request startRequest }
	// halt stops the actor of a launch.
	halt struct {
		label string
		id    requestID
	}
	// say tells the coordinator something.
	say struct {
		to  actor.ActorRef[fromAgent]
		msg fromAgent
	}
)

func (launch) agentAction() {}
func (halt) agentAction()   {}
func (say) agentAction()    {}

// newAgentCore returns the core of the agent of a node that is no member yet.
func newAgentCore(node string) *agentCore {
	return &agentCore{node: node, maxReport: maxPart, slots: map[string]*agentSlot{}}
}

// step does what ev asks for.
func (a *agentCore) step(ev agentEvent) []agentAction {
	switch ev := ev.(type) {
	case agentTold:
		a.told(ev.msg)
	case agentMember:
		a.member(ev.incarnation)
	case agentStarted:
		if s := a.slots[ev.label]; s != nil && s.holds(ev.id) {
			a.started(s)
		}
	case agentEnded:
		if s := a.slots[ev.label]; s != nil && s.holds(ev.id) {
			a.ended(s, ev.why)
		}
	case agentPassed:
		a.sayAgain()
	case agentClosing:
		a.close()
	}
	out := a.out
	a.out = nil
	return out
}

// busy reports whether anything has not terminated.
func (a *agentCore) busy() bool {
	for _, s := range a.slots {
		if s.actor != nil {
			return true
		}
	}
	return false
}

// told takes what is meant for this incarnation, and of no coordinator that has been
// replaced.
func (a *agentCore) told(msg toAgent) {
	epoch := msg.epoch()
	if a.incarnation == 0 || msg.Incarnation != a.incarnation || epoch < a.epoch || epoch == 0 {
		return
	}
	a.epoch, a.coordinator = epoch, msg.ReplyTo
	if msg.Report != nil {
		a.report(msg.Report.After)
	}
	if msg.Start != nil {
		a.start(*msg.Start)
	}
	if msg.Stop != nil {
		a.stop(*msg.Stop)
	}
}

// member follows the membership of the node. Who asked under another incarnation takes all
// of it for lost: it is stopped, and nobody is told.
func (a *agentCore) member(incarnation uint64) {
	if incarnation == a.incarnation {
		return
	}
	a.incarnation, a.epoch, a.coordinator = incarnation, 0, actor.ActorRef[fromAgent]{}
	for _, label := range a.labels() {
		s := a.slots[label]
		s.next, s.unheard, s.latest, s.why, s.buried = nil, nil, requestID{}, "", false
		if s.actor == nil {
			delete(a.slots, label)
			continue
		}
		s.actor.answered, s.actor.stopAsked, s.actor.shown = true, 0, 0
		a.halt(s)
	}
	a.graves = nil
}

// close stops everything. What had started ends without a word, as the node is about to
// tell that it has gone; what had not is answered, as is what comes later.
func (a *agentCore) close() {
	a.closing = true
	for _, label := range a.labels() {
		s := a.slots[label]
		s.unheard = nil
		if s.next != nil {
			a.refuse(s, whyClosing)
		}
		if s.actor != nil {
			a.halt(s)
		}
	}
}

const whyClosing = "its node is being shut down"

func (a *agentCore) labels() []string { return slices.Sorted(maps.Keys(a.slots)) }

// report tells the coordinator what there is, from the first label after that one on, and
// as much as fits.
func (a *agentCore) report(after string) {
	r := report{Epoch: a.epoch, After: after}
	size := 0
	for _, label := range a.labels() {
		s := a.slots[label]
		if label <= after || s.empty() {
			continue
		}
		size += 2 * (len(label) + reportedBytes)
		if len(r.Running) > 0 && size > a.maxReport {
			r.More = true
			break
		}
		r.Running = append(r.Running, s.shown(a.epoch)...)
	}
	a.say(fromAgent{Report: &r})
}

// reportedBytes is what a reported needs at most besides its label.
const reportedBytes = 64

// sayAgain says what the coordinator may not have heard.
func (a *agentCore) sayAgain() {
	for _, label := range a.labels() {
		if e := a.slots[label].unheard; e != nil {
			a.say(fromAgent{Ended: e})
		}
	}
}

func (a *agentCore) say(msg fromAgent) {
	if a.incarnation == 0 || a.epoch == 0 {
		return // nobody has asked
	}
	msg.Node, msg.Incarnation = a.node, a.incarnation
	a.do(say{to: a.coordinator, msg: msg})
}

func (a *agentCore) ackStart(label string, id requestID, why string) {
	a.say(fromAgent{StartAck: &startAck{ID: id, Label: label, Error: why}})
}

func (a *agentCore) ackStop(label string, id requestID, why string) {
	a.say(fromAgent{StopAck: &stopAck{ID: id, Label: label, Error: why}})
}

func (a *agentCore) do(action agentAction) { a.out = append(a.out, action) }

func replacedBy(id requestID) string { return fmt.Sprintf("request %v has taken its place", id) }
