package home

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton"
)

// A RequestID numbers the requests of a coordinator. It contains the coordinator's epoch. Later
// coordinators have greater epochs, so the IDs of different coordinators differ.
type RequestID struct {
	_     struct{} `cbor:",toarray"`
	Epoch uint64
	N     uint64
}

func (id RequestID) String() string { return fmt.Sprintf("%d.%d", id.Epoch, id.N) }

// IsZero reports whether id numbers no request.
func (id RequestID) IsZero() bool { return id == RequestID{} }

// less reports whether id was issued before o.
func (id RequestID) less(o RequestID) bool {
	return id.Epoch < o.Epoch || id.Epoch == o.Epoch && id.N < o.N
}

// The requests of a coordinator to the agent of a node. All carry the epoch of the coordinator;
// agents ignore an epoch below the highest they have received.
type (
	// A StartRequest asks an agent to start an actor. It may be repeated until it is acknowledged;
	// a repetition only causes another StartAck with the same outcome. Later requests for the same
	// label have greater IDs, and replace earlier ones.
	StartRequest struct {
		_          struct{} `cbor:",toarray"`
		ID         RequestID
		Label      string
		Type       string
		State      []byte
		Generation singleton.Generation // of the instance; zero if the actor has none
		Epoch      uint64               // of the coordinator that asks
	}

	// A StopRequest asks an agent to stop the actor that request ID has started. The agent
	// acknowledges it when the actor has terminated, or at once if the actor does not run.
	// Afterwards the agent ignores a StartRequest with that ID. The agent refuses to stop an
	// instance of a higher generation.
	StopRequest struct {
		_          struct{} `cbor:",toarray"`
		ID         RequestID
		Label      string
		Generation singleton.Generation
		Epoch      uint64
	}

	// A ReportRequest asks an agent which actors it has, of labels greater than After.
	ReportRequest struct {
		_     struct{} `cbor:",toarray"`
		Epoch uint64
		After string
	}
)

// stop returns the request to stop the actor that r has started.
func (r StartRequest) stop() StopRequest {
	return StopRequest{ID: r.ID, Label: r.Label, Generation: r.Generation, Epoch: r.Epoch}
}

// The messages of an agent to the coordinator.
type (
	// A StartAck answers a StartRequest, when the actor runs or has terminated without having run.
	// If the actor is stopped meanwhile, the StartAck precedes the StopAck. A repeated request gets
	// the same answer again.
	StartAck struct {
		_        struct{} `cbor:",toarray"`
		ID       RequestID
		Label    string
		Error    string // "" when it runs
		FencedBy uint64 // the term that has claimed the actor's journal; 0 if that was not the reason
	}

	// A StopAck answers a StopRequest.
	StopAck struct {
		_     struct{} `cbor:",toarray"`
		ID    RequestID
		Label string
		Error string // why the actor was not stopped; "" if it has ended
	}

	// An Ended reports an actor that has ended without a request. It is repeated until the
	// coordinator acknowledges it by a StopRequest.
	Ended struct {
		_        struct{} `cbor:",toarray"`
		ID       RequestID
		Label    string
		Error    string // "" if it has stopped by itself
		FencedBy uint64 // as in StartAck
	}

	// A Report answers a ReportRequest. It lists all actors that have not terminated: those that
	// run, are starting, are being stopped, or wait for the end of another actor of their label. It
	// is sorted by label. It ends early if the message would be too large; the next request then
	// asks for the labels after the last one. A report is a complete snapshot of the labels it
	// covers.
	Report struct {
		_       struct{} `cbor:",toarray"`
		Epoch   uint64   // of the request
		After   string   // of the request
		Running []Reported
		More    bool // there are more labels after the last one
	}

	// A Reported is one actor in a Report.
	Reported struct {
		_          struct{} `cbor:",toarray"`
		ID         RequestID
		Label      string
		Generation singleton.Generation
		Started    bool // it runs; false while it is starting
	}
)

// A FromAgent is a message of an agent to the coordinator.
type FromAgent struct {
	_           struct{} `cbor:",toarray"`
	Node        string
	Incarnation uint64
	StartAck    *StartAck
	StopAck     *StopAck
	Ended       *Ended
	Report      *Report
}

// greets reports whether the message only announces that there is an agent.
func (f FromAgent) greets() bool {
	return f.StartAck == nil && f.StopAck == nil && f.Ended == nil && f.Report == nil
}

// A ToAgent is a message of a coordinator to the agent of one incarnation of a node. Other
// incarnations ignore it.
type ToAgent struct {
	_           struct{} `cbor:",toarray"`
	Incarnation uint64
	Start       *StartRequest
	Stop        *StopRequest
	Report      *ReportRequest
	ReplyTo     actor.ActorRef[FromAgent]
}

// Message returns the message for the agent.
func (s Send) Message(replyTo actor.ActorRef[FromAgent]) ToAgent {
	m := ToAgent{Incarnation: s.Incarnation, ReplyTo: replyTo}
	switch msg := s.Msg.(type) {
	case StartRequest:
		m.Start = &msg
	case StopRequest:
		m.Stop = &msg
	case ReportRequest:
		m.Report = &msg
	}
	return m
}

// epoch returns the epoch of the coordinator that has sent m; 0 if m is empty.
func (m ToAgent) epoch() (highest uint64) {
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

// Carried is for [extension.DeadLetter]. It returns nothing, because the message will be sent
// again.
func (ToAgent) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Carried is for [extension.DeadLetter]. It returns nothing, because important messages are sent
// again.
func (FromAgent) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Carried is for [extension.DeadLetter], as for FromAgent.
func (Received) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

func init() {
	actor.RegisterType[Received]("understudy/home.received")
	actor.RegisterType[FromAgent]("understudy/home.from-agent")
	actor.RegisterType[ToAgent]("understudy/home.to-agent")
}

// maxPart is the approximate size in bytes of one message, if an answer takes several messages.
const maxPart = 512 << 10

// PartBytes returns about how many bytes such a message may have: 512 KiB, or half of the limit on
// messages between nodes if that is less.
func PartBytes(s *actor.System) int {
	if limit := extension.MaxMessage(s); limit > 0 {
		return min(maxPart, limit/2)
	}
	return maxPart
}
