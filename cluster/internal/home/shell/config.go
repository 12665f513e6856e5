package shell

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A Config says what the agents of a coordinator start. Every field but Asked is required.
type Config struct {
	Name    string  // of the agents, the same on all nodes; see [Path]
	Starter Starter // what this node can start
	Noun    string  // what is started, in logs and errors: "placed actor"
	Quit    string  // the warning in the log when such an actor stops by itself

	// Asked is called, inside the agent, when a coordinator has asked what the node has, as a new
	// one does. It may be nil.
	Asked func()
}

// Path returns the path of the agents of that name. The actors that they start are their children.
func Path(name string) string { return "/system/" + name }

// A Starter starts the actors of an agent.
type Starter interface {
	// Start spawns the actor of a request as a child of the agent, and returns at once. Everything
	// that may fail or block happens in the new actor. An error means that this node does not know
	// how to start it.
	Start(under *actor.Context[any], r home.StartRequest, on Hooks) (Running, error)
}

// A Running is an actor that has been started, and has not terminated.
type Running struct {
	Ref   actor.AnyRef
	Leave func() // called before it is stopped, so that new messages can wait for the next actor of its label
	Stop  func() // makes it stop, if it needs to be asked; nil: it is stopped
}

// Hooks are for the new actor.
type Hooks struct {
	Started func()          // it runs; called inside the actor
	Broken  func(why error) // it must end, without having failed; may be called from any goroutine
}
