package placement

import (
	"errors"
	"strings"

	"github.com/understudy-go/understudy/actor"
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
	Failure     *failure
}

func init() {
	actor.RegisterType[request]("understudy/placement.request")
	actor.RegisterType[word]("understudy/placement.word")
	actor.RegisterType[answer]("understudy/placement.answer")
}

// answerOf returns the answer with a value or an error.
func answerOf(value any, err error) answer {
	if err != nil {
		return answer{Failure: failureOf(err)}
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

// A failure is an error on its way to another node.
type failure struct {
	_          struct{} `cbor:",toarray"`
	Kind       int      // its place among the sentinels, -1 for none
	Text       string
	NoEligible *NoEligibleNodesError
}

// sentinels are what errors are told by across nodes. New ones come last.
var sentinels = []error{
	ErrNotLeader, ErrNoEligibleNodes, ErrExists, ErrNotFound, ErrInvalid, ErrStrategy, ErrInProgress, ErrNoOwner, ErrSource,
}

func failureOf(err error) *failure {
	f := &failure{Kind: -1, Text: strings.ToValidUTF8(err.Error(), "\uFFFD")}
	errors.As(err, &f.NoEligible)
	for i, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			f.Kind = i
			break
		}
	}
	return f
}

// err returns the error as it was, as far as errors.Is and errors.As can tell.
func (f *failure) err() error {
	switch {
	case f == nil:
		return nil
	case f.NoEligible != nil && f.NoEligible.Error() == f.Text:
		return f.NoEligible
	case f.Kind < 0 || f.Kind >= len(sentinels):
		return errors.New(f.Text)
	}
	return &remoteError{text: f.Text, is: sentinels[f.Kind]}
}

// A remoteError has the text of an error of another node.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }
