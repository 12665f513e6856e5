package placement

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
)

// A requestID numbers what a coordinator asks for. Epochs are those of the coordinator's
// incarnation, later ones greater, so that numbers of different coordinators never meet.
type requestID struct {
	_     struct{} `cbor:",toarray"`
	Epoch uint64
	N     uint64
}

func (id requestID) String() string { return fmt.Sprintf("%d.%d", id.Epoch, id.N) }

func (id requestID) isZero() bool { return id == requestID{} }

// less reports whether id was given out before o.
func (id requestID) less(o requestID) bool {
	return id.Epoch < o.Epoch || id.Epoch == o.Epoch && id.N < o.N
}

// What a coordinator tells the agent of a node. All carry its epoch: agents take nothing of
// an earlier one than they have heard of.
type (
	// A startRequest asks for an actor. It may come again until it is acknowledged; then
	// nothing happens but another ack of the same outcome. Of the requests for one label later
	// ones have greater IDs, and take the place of earlier ones.
	startRequest struct {
		_          struct{} `cbor:",toarray"`
		ID         requestID
		Label      string
		Type       string
		State      []byte
		Generation Generation // of a singleton; zero otherwise
		Epoch      uint64     // of the coordinator that asks
	}

	// A stopRequest asks for the end of what was started by request ID. It is acknowledged
	// when that has terminated, or at once when it does not run; request ID starts nothing
	// afterwards, even when it comes later. Agents refuse to stop a singleton's instance by a
	// Generation below its own.
	stopRequest struct {
		_          struct{} `cbor:",toarray"`
		ID         requestID
		Label      string
		Generation Generation
		Epoch      uint64
	}

	// A reportRequest asks what runs, of labels greater than After.
	reportRequest struct {
		_     struct{} `cbor:",toarray"`
		Epoch uint64
		After string
	}
)

// What an agent tells the coordinator.
type (
	// A startAck is the answer to a startRequest: it comes when the actor runs, or when it has
	// terminated without having run; before the stopAck, if it was stopped meanwhile. A request
	// that comes again after that is answered in the same way again.
	startAck struct {
		_     struct{} `cbor:",toarray"`
		ID    requestID
		Label string
		Error string // "" when it runs
	}

	// A stopAck is the answer to a stopRequest.
	stopAck struct {
		_     struct{} `cbor:",toarray"`
		ID    requestID
		Label string
		Error string // why it goes on; "" when it has ended
	}

	// An ended tells of an actor that has ended without having been asked to. It comes again
	// until the coordinator has said that it knows, by a stopRequest.
	ended struct {
		_     struct{} `cbor:",toarray"`
		ID    requestID
		Label string
		Error string // "" when it has stopped by itself
	}

	// A report is the answer to a reportRequest, and tells all that has not terminated: it
	// runs, is starting, is being stopped, or waits for the end of another of its label. It is
	// sorted by label, and ends early when a message would be too large: then the next request
	// asks for what is after its last label. Each is complete for the labels that it is about,
	// as they were at one moment.
	report struct {
		_       struct{} `cbor:",toarray"`
		Epoch   uint64   // of the request
		After   string   // that of the request
		Running []reported
		More    bool // there are others after those
	}

	// A reported is an actor of a report.
	reported struct {
		_          struct{} `cbor:",toarray"`
		ID         requestID
		Label      string
		Generation Generation
		Started    bool // it runs, as opposed to starting
	}
)

// A fromAgent is one of those, with who says it.
type fromAgent struct {
	_           struct{} `cbor:",toarray"`
	Node        string
	Incarnation uint64
	StartAck    *startAck
	StopAck     *stopAck
	Ended       *ended
	Report      *report
}

// greets reports whether it says no more than that there is an agent.
func (f fromAgent) greets() bool {
	return f.StartAck == nil && f.StopAck == nil && f.Ended == nil && f.Report == nil
}

// A toAgent is one message of the coordinator, for which incarnation of the node it is, and
// whom to answer. Agents of other incarnations take no notice.
type toAgent struct {
	_           struct{} `cbor:",toarray"`
	Incarnation uint64
	Start       *startRequest
	Stop        *stopRequest
	Report      *reportRequest
	ReplyTo     actor.ActorRef[fromAgent]
}

// message returns what is to be told to the agent of the node.
func (s send) message(replyTo actor.ActorRef[fromAgent]) toAgent {
	m := toAgent{Incarnation: s.incarnation, ReplyTo: replyTo}
	switch msg := s.msg.(type) {
	case startRequest:
		m.Start = &msg
	case stopRequest:
		m.Stop = &msg
	case reportRequest:
		m.Report = &msg
	}
	return m
}

// epoch returns that of who says it; 0 when nothing is said.
func (m toAgent) epoch() (highest uint64) {
	if m.Start != nil {
		highest = m.Start.Epoch
	}
	if m.Stop != nil {
		highest = max(highest, m.Stop.Epoch)
	}
	if m.Report != nil {
		highest = max(highest, m.Report.Epoch)
	}
	return highest
}

// Carried is for [extension.DeadLetter]: what is not delivered is sent again.
func (toAgent) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Carried is for [extension.DeadLetter]: what matters is said again.
func (fromAgent) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

func init() {
	actor.RegisterType[fromAgent]("understudy/placement.from-agent")
	actor.RegisterType[toAgent]("understudy/placement.to-agent")
}
