package placement

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// A command is what the coordinator is told.
//
//sumtype:decl
type command interface{ command() }

type (
	// A request asks the coordinator for something, from any node.
	request struct {
		_           struct{} `cbor:",toarray"`
		Op          operation
		Spec        *Spec
		Singleton   *SingletonSpec
		Label       string // or the name of a node; of opSpecs those after it are asked for
		After       string // of opView: what comes after this actor of that node is asked for
		Incarnation uint64 // of that node
		ReplyTo     actor.ActorRef[answer]
	}

	// A word is what an agent has said.
	word struct {
		_    struct{} `cbor:",toarray"`
		Said fromAgent
	}

	alarm     struct{}          // the time has come that the machine has named
	moreFacts struct{}          // there are facts that have not been stored
	newView   struct{}          // the node's view of the cluster has changed
	fromStore struct{ sourced } // the source of generations has answered, or not in time
)

func (request) command()   {}
func (word) command()      {}
func (alarm) command()     {}
func (moreFacts) command() {}
func (newView) command()   {}
func (fromStore) command() {}

// An operation is one of those of [Coordinator].
type operation uint8

const (
	opSubmit operation = iota + 1
	opRemove
	opSpecs
	opView
	opExplain
	opDrain
	opStartSingleton
	opGetSingleton
	opMoveSingleton
	opStopSingleton
)

// An answer is what comes of a request.
type answer struct {
	_           struct{} `cbor:",toarray"`
	Decision    *Decision
	Ownership   *Ownership
	Statuses    []Status // by label, those that fit into a message
	View        *View    // likewise
	More        bool     // there is more after that
	Explanation *Explanation
	Failure     extension.ErrorPayload
}

func init() {
	actor.RegisterType[request]("understudy/placement.request")
	actor.RegisterType[word]("understudy/placement.word")
	actor.RegisterType[answer]("understudy/placement.answer")
	actor.RegisterType[*NoEligibleNodesError]("understudy/placement.no-eligible-nodes")
	actor.RegisterType[*FieldError]("understudy/placement.field")
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
	case page:
		return answer{Statuses: v.statuses, More: v.more}
	case viewPage:
		return answer{View: &v.view, More: v.more}
	case Explanation:
		return answer{Explanation: &v}
	}
	return answer{}
}
