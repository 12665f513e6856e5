package workflow

import (
	"github.com/understudy-go/understudy/actor"
)

// A message is what the actor of a run takes.
type message interface{ forRun() }

// An operation is what a command asks for.
type operation string

const (
	opRun    operation = "run"
	opResult operation = "result"
	opSignal operation = "signal"
	opTurn   operation = "turn"
	opResume operation = "resume"
	opLook   operation = "look"
	opTold   operation = "told" // the parent has stored the end
)

// A command comes from outside of the run. Each may be repeated: those that store something have a
// Key.
type command struct {
	Op      operation
	Key     string `cbor:",omitempty"`
	Name    string `cbor:",omitempty"` // of the signal or step
	Value   value  `cbor:",omitempty"`
	State   State  `cbor:",omitempty"` // in which a run that turns will end
	Tag     string `cbor:",omitempty"`
	Parent  address
	By      string `cbor:",omitempty"`
	Why     string `cbor:",omitempty"`
	ReplyTo actor.ActorRef[actor.Result[answer]]
}

// An answer has the fields that the operation asks for.
type answer struct {
	State  State
	Out    value
	Status Status
}

// A tick is the message of a timer.
type tick struct{ Timer string }

const (
	// timerGuard is due soon while the run does something. Its message is stashed, so that the
	// timer stays in the journal. If the node dies, the next home of the shard wakes the run.
	timerGuard = "guard"
	// timerWake is due when the first wait ends. The run may sleep until then.
	timerWake = "wake"
	// timerIdle is not stored: a run that rests leaves memory then.
	timerIdle = "idle"
	// timerLook is not stored: somebody who looks waits no longer for the end of a replay.
	timerLook = "look"
)

// work says that the goroutines of the run have something for the actor.
type work struct{}

// leave is the last message of an actor that shall end.
type leave struct{}

func (command) forRun() {}
func (tick) forRun()    {}
func (work) forRun()    {}
func (leave) forRun()   {}

// LocalOnly is for the testkit: the messages stay in their actor.
func (work) LocalOnly() bool { return true }

// LocalOnly is for the testkit too.
func (leave) LocalOnly() bool { return true }

func init() {
	actor.RegisterType[command]("understudy/workflow.command")
	actor.RegisterType[answer]("understudy/workflow.answer")
	actor.RegisterType[tick]("understudy/workflow.tick/1")
}
