package placement

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// A request asks the coordinator for something, from any node. It is a message that only package
// placement knows, besides the inputs of the planner.
type request struct {
	_           struct{} `cbor:",toarray"`
	Op          operation
	Spec        *Spec
	Singleton   *SingletonSpec
	Label       string // or the name of a node; for opSpecs the label after which the answer begins
	After       string // for opView, the actor of that node after which the answer begins
	Incarnation uint64 // of that node
	ReplyTo     actor.ActorRef[answer]
}

// IsInput implements home.Input.
func (request) IsInput() {}

// about returns the label that it concerns, or the name of the node.
func (r request) about() string {
	switch {
	case r.Spec != nil:
		return r.Spec.Label
	case r.Singleton != nil:
		return r.Singleton.Label
	}
	return r.Label
}

// An operation is a method of [Coordinator].
type operation uint8

const (
	opSubmit operation = iota + 1
	opRemove
	opSpecs
	opView
	opExplain
	opDrain
	opStartSingleton
	opSingleton
	opMoveSingleton
	opStopSingleton
	opOverview // for status pages
)

// An answer is the answer to a request.
type answer struct {
	_           struct{} `cbor:",toarray"`
	Decision    *Decision
	Ownership   *Ownership
	Statuses    []Status // sorted by label, as many as fit into a message
	View        *View    // likewise
	More        bool     // there are more after these
	Explanation *Explanation
	Overview    *overview
	Failure     extension.ErrorPayload
}

func init() {
	actor.RegisterType[request]("understudy/placement.request")
	actor.RegisterType[answer]("understudy/placement.answer")
}

// answerOf returns the answer with a value or an error.
func answerOf(value any, err error) answer {
	if err != nil {
		return answer{Failure: extension.PackError(err)}
	}
	switch v := value.(type) {
	case Decision:
		return answer{Decision: &v}
	case Ownership:
		return answer{Ownership: &v}
	case statusPage:
		return answer{Statuses: v.Statuses, More: v.More}
	case viewPage:
		return answer{View: &v.View, More: v.More}
	case Explanation:
		return answer{Explanation: &v}
	case overview:
		return answer{Overview: &v}
	}
	return answer{}
}
