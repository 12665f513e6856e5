package home

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
)

// An Agent decides which actors one node starts and stops. Each label has a slot with at most one
// actor; another actor of the label starts when that one has ended.
type Agent struct {
	node        string
	MaxReport   int    // about how many bytes a report may have
	incarnation uint64 // of the node as a member; 0 while the node is not a member: requests are then ignored
	epoch       uint64 // the highest received in this incarnation
	coordinator actor.ActorRef[FromAgent]
	closing     bool // the node is shutting down, so no actor starts
	slots       map[string]*slot
	tombstones  []string // labels of empty slots that are remembered, the oldest first
	out         []AgentAction
}

// An AgentEvent is something that happens to an agent.
//
//sumtype:decl
type AgentEvent interface{ agentEvent() }

type (
	// AgentReceived has a message of a coordinator.
	AgentReceived struct{ Message ToAgent }
	// AgentMembership: the node is a member under this incarnation, or not a member if it is 0.
	AgentMembership struct{ Incarnation uint64 }
	// AgentStarted: the actor of a launch runs.
	AgentStarted struct {
		Label string
		ID    RequestID
	}
	// AgentEnded: the actor of a launch has terminated, or could not be spawned.
	AgentEnded struct {
		Label    string
		ID       RequestID
		Why      string // "" if it has stopped by itself
		FencedBy uint64 // the later term that has claimed the actor's journal; 0 if none has
	}
	// AgentTick is due 2 s after an Ended was sent, and every 2 s from then on until a tick sends
	// nothing.
	AgentTick struct{}
	// AgentClosing: the node is shutting down.
	AgentClosing struct{}
)

func (AgentReceived) agentEvent()   {}
func (AgentMembership) agentEvent() {}
func (AgentStarted) agentEvent()    {}
func (AgentEnded) agentEvent()      {}
func (AgentTick) agentEvent()       {}
func (AgentClosing) agentEvent()    {}

// An AgentAction is something for the shell to do, in order.
//
//sumtype:decl
type AgentAction interface{ agentAction() }

type (
	// Launch starts an actor. AgentStarted follows, unless the actor ends first. AgentEnded follows
	// exactly once.
	Launch struct{ Request StartRequest }
	// Halt stops the actor of a launch.
	Halt struct {
		label string
		ID    RequestID
	}
	// Tell sends the coordinator a message.
	Tell struct {
		To      actor.ActorRef[FromAgent]
		Message FromAgent
	}
)

func (Launch) agentAction() {}
func (Halt) agentAction()   {}
func (Tell) agentAction()   {}

// NewAgent returns the agent of a node that is not a member yet.
func NewAgent(node string) *Agent {
	return &Agent{node: node, MaxReport: maxPart, slots: map[string]*slot{}}
}

// Step handles an event.
func (a *Agent) Step(ev AgentEvent) []AgentAction {
	switch ev := ev.(type) {
	case AgentReceived:
		a.receive(ev.Message)
	case AgentMembership:
		a.setMembership(ev.Incarnation)
	case AgentStarted:
		if s := a.slots[ev.Label]; s != nil && s.holds(ev.ID) {
			a.started(s)
		}
	case AgentEnded:
		if s := a.slots[ev.Label]; s != nil && s.holds(ev.ID) {
			a.ended(s, Ending{ev.Why, ev.FencedBy})
		}
	case AgentTick:
		a.resendEnded()
	case AgentClosing:
		a.close()
	}
	out := a.out
	a.out = nil
	return out
}

// Busy reports whether any actor has not terminated.
func (a *Agent) Busy() bool {
	for _, s := range a.slots {
		if s.actor != nil {
			return true
		}
	}
	return false
}

// receive handles a message for this incarnation of the node, unless its coordinator has been
// replaced.
func (a *Agent) receive(msg ToAgent) {
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

// setMembership follows the membership of the node. Coordinators consider all actors of another
// incarnation lost. The agent therefore stops them, and reports nothing about them.
func (a *Agent) setMembership(incarnation uint64) {
	if incarnation == a.incarnation {
		return
	}
	a.incarnation, a.epoch, a.coordinator = incarnation, 0, actor.ActorRef[FromAgent]{}
	for _, label := range a.labels() {
		s := a.slots[label]
		s.next, s.unconfirmed, s.latest, s.why, s.entombed = nil, nil, RequestID{}, Ending{}, false
		if s.actor == nil {
			delete(a.slots, label)
			continue
		}
		s.actor.answered, s.actor.stopEpoch, s.actor.reportedIn = true, 0, 0
		a.halt(s)
	}
	a.tombstones = nil
}

// close stops all actors. Actors that have started end without a message, because the coordinator
// learns from the cluster that the node leaves. Requests to start other actors are refused with an
// answer, now and later.
func (a *Agent) close() {
	a.closing = true
	for _, label := range a.labels() {
		s := a.slots[label]
		s.unconfirmed = nil
		if s.next != nil {
			a.refuse(s, WhyClosing)
		}
		if s.actor != nil {
			a.halt(s)
		}
	}
}

// WhyClosing is why an actor is not started when its node is shutting down.
const WhyClosing = "its node is being shut down"

func (a *Agent) labels() []string { return slices.Sorted(maps.Keys(a.slots)) }

// report sends the coordinator the actors whose labels are greater than after, as many as fit.
func (a *Agent) report(after string) {
	r := Report{Epoch: a.epoch, After: after}
	size := 0
	for _, label := range a.labels() {
		s := a.slots[label]
		if label <= after || s.empty() {
			continue
		}
		size += 2 * (len(label) + reportedBytes)
		if len(r.Running) > 0 && size > a.MaxReport {
			r.More = true
			break
		}
		r.Running = append(r.Running, s.report(a.epoch)...)
	}
	a.tell(FromAgent{Report: &r})
}

// reportedBytes is how many bytes a Reported needs at most besides its label.
const reportedBytes = 64

// resendEnded sends again each Ended that the coordinator has not acknowledged.
func (a *Agent) resendEnded() {
	for _, label := range a.labels() {
		if e := a.slots[label].unconfirmed; e != nil {
			a.tell(FromAgent{Ended: e})
		}
	}
}

func (a *Agent) tell(msg FromAgent) {
	if a.incarnation == 0 || a.epoch == 0 {
		return // no coordinator has sent a request
	}
	msg.Node, msg.Incarnation = a.node, a.incarnation
	a.emit(Tell{To: a.coordinator, Message: msg})
}

func (a *Agent) ackStart(label string, id RequestID, why Ending) {
	a.tell(FromAgent{StartAck: &StartAck{ID: id, Label: label, Error: why.Text, FencedBy: why.FencedBy}})
}

func (a *Agent) ackStop(label string, id RequestID, why string) {
	a.tell(FromAgent{StopAck: &StopAck{ID: id, Label: label, Error: why}})
}

func (a *Agent) emit(action AgentAction) { a.out = append(a.out, action) }

func replacedBy(id RequestID) string { return fmt.Sprintf("request %v has taken its place", id) }

// maxErrorText bounds the text of an error in a message, in bytes.
const maxErrorText = 1000

// ErrorText returns the text of err for the wire: UTF-8, at most about 1000 bytes; "" for nil.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	text := fmt.Sprintf("%v", err) // Sprintf catches a panic of Error
	return strings.ToValidUTF8(text[:min(len(text), maxErrorText)], "\uFFFD")
}
