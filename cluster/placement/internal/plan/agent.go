package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
)

// An agentCore decides what an agent does. It is pure: it starts no goroutine and reads no
// clock.
//
// For each label there is a slot, with at most one actor in it: what is to take its place
// waits for its end.
type Agent struct {
	node        string
	MaxReport   int    // about how many bytes a report may have
	incarnation uint64 // as a member; 0 while it is none: then nothing is taken
	epoch       uint64 // the highest heard of in this incarnation
	coordinator actor.ActorRef[FromAgent]
	closing     bool // the node stops: nothing starts any more
	slots       map[string]*slot
	tombstones  []string // labels of slots in which something has ended, the oldest first
	out         []AgentAction
}

// An agentEvent is something that happens to an agent.
//
//sumtype:decl
type AgentEvent interface{ agentEvent() }

type (
	// agentTold: a coordinator has said something.
	AgentReceived struct{ Message ToAgent }
	// agentMember: the node is a member under this incarnation; 0: it is none any more.
	AgentMembership struct{ Incarnation uint64 }
	// agentStarted: the actor of a launch runs.
	AgentStarted struct {
		Label string
		ID    RequestID
	}
	// agentEnded: the actor of a launch has terminated; or there never was one.
	AgentEnded struct {
		Label string
		ID    RequestID
		Why   string // "" when it has stopped by itself
	}
	// agentPassed: some time has passed. It matters after an ended has been said, until one
	// leads to nothing being said.
	AgentTick struct{}
	// agentClosing: the node stops.
	AgentClosing struct{}
)

func (AgentReceived) agentEvent()   {}
func (AgentMembership) agentEvent() {}
func (AgentStarted) agentEvent()    {}
func (AgentEnded) agentEvent()      {}
func (AgentTick) agentEvent()       {}
func (AgentClosing) agentEvent()    {}

// An agentAction is something for the agent to do, in order.
//
//sumtype:decl
type AgentAction interface{ agentAction() }

type (
	// launch starts an actor. agentStarted is to follow, unless it ends before; and
	// agentEnded, once.
	Launch struct{ Request StartRequest }
	// halt stops the actor of a launch.
	Halt struct {
		label string
		ID    RequestID
	}
	// say tells the coordinator something.
	Tell struct {
		To      actor.ActorRef[FromAgent]
		Message FromAgent
	}
)

func (Launch) agentAction() {}
func (Halt) agentAction()   {}
func (Tell) agentAction()   {}

// newAgentCore returns the core of the agent of a node that is no member yet.
func NewAgent(node string) *Agent {
	return &Agent{node: node, MaxReport: maxPart, slots: map[string]*slot{}}
}

// step does what ev asks for.
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
			a.ended(s, ev.Why)
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

// busy reports whether anything has not terminated.
func (a *Agent) Busy() bool {
	for _, s := range a.slots {
		if s.actor != nil {
			return true
		}
	}
	return false
}

// told takes what is meant for this incarnation, and of no coordinator that has been
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

// member follows the membership of the node. Who asked under another incarnation takes all
// of it for lost: it is stopped, and nobody is told.
func (a *Agent) setMembership(incarnation uint64) {
	if incarnation == a.incarnation {
		return
	}
	a.incarnation, a.epoch, a.coordinator = incarnation, 0, actor.ActorRef[FromAgent]{}
	for _, label := range a.labels() {
		s := a.slots[label]
		s.next, s.unconfirmed, s.latest, s.why, s.entombed = nil, nil, RequestID{}, "", false
		if s.actor == nil {
			delete(a.slots, label)
			continue
		}
		s.actor.answered, s.actor.stopEpoch, s.actor.reportedIn = true, 0, 0
		a.halt(s)
	}
	a.tombstones = nil
}

// close stops everything. What had started ends without a word, as the node is about to
// tell that it has gone; what had not is answered, as is what comes later.
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

const WhyClosing = "its node is being shut down"

func (a *Agent) labels() []string { return slices.Sorted(maps.Keys(a.slots)) }

// report tells the coordinator what there is, from the first label after that one on, and
// as much as fits.
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

// reportedBytes is what a reported needs at most besides its label.
const reportedBytes = 64

// sayAgain says what the coordinator may not have heard.
func (a *Agent) resendEnded() {
	for _, label := range a.labels() {
		if e := a.slots[label].unconfirmed; e != nil {
			a.tell(FromAgent{Ended: e})
		}
	}
}

func (a *Agent) tell(msg FromAgent) {
	if a.incarnation == 0 || a.epoch == 0 {
		return // nobody has asked
	}
	msg.Node, msg.Incarnation = a.node, a.incarnation
	a.emit(Tell{To: a.coordinator, Message: msg})
}

func (a *Agent) ackStart(label string, id RequestID, why string) {
	a.tell(FromAgent{StartAck: &StartAck{ID: id, Label: label, Error: why}})
}

func (a *Agent) ackStop(label string, id RequestID, why string) {
	a.tell(FromAgent{StopAck: &StopAck{ID: id, Label: label, Error: why}})
}

func (a *Agent) emit(action AgentAction) { a.out = append(a.out, action) }

func replacedBy(id RequestID) string { return fmt.Sprintf("request %v has taken its place", id) }

// maxErrorText bounds the text of an error in a message, in bytes.
const maxErrorText = 1000

// errorText returns the text of err for the wire, as UTF-8 of limited length; "" for nil.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	text := fmt.Sprintf("%v", err) // Sprintf catches a panic of Error
	return strings.ToValidUTF8(text[:min(len(text), maxErrorText)], "\uFFFD")
}
