// Package telemetry reads what a system counts about its actors. Counting is always on; it costs a
// few nanoseconds for each time that an actor empties its mailbox, and nothing for each message.
// How long messages take is measured for a sample of them, see [actor.WithTimeSampling].
//
// Actors are counted by kind, not one by one, so that the numbers stay few however many actors
// there are. The kind of an actor is the name of its message type, or what [actor.WithKind] says.
// Actors that belong to the framework itself have the kind "understudy".
package telemetry

import "github.com/understudy-go/understudy/actor"

// A Kind is what a system has counted about the actors of one kind since it started. All numbers
// but Actors only grow.
type Kind struct {
	Name     string
	Actors   uint64 // that have been spawned and have not ended
	Started  uint64 // spawned
	Stopped  uint64 // ended, for whatever reason
	Failures uint64 // failures of handlers and of starts, whatever became of the actor
	Restarts uint64 // by supervision

	// Messages is how many messages have been handled. Those of actors that have not emptied their
	// mailbox for some hundred messages are counted a little later.
	Messages uint64
}

// Kinds returns the counts of all kinds of which s has had an actor, sorted by name. It takes a
// microsecond or less for each kind. Any goroutine may call it, also after the end of s. The
// numbers are read one after the other while actors run, so that they may differ by what happens in
// between.
func Kinds(s *actor.System) []Kind {
	counted := countedBy(s).Kinds()
	all := make([]Kind, len(counted))
	for i, k := range counted {
		all[i] = Kind{
			Name: k.Name, Actors: k.Started - k.Stopped, Started: k.Started, Stopped: k.Stopped,
			Failures: k.Failures, Restarts: k.Restarts, Messages: k.Messages,
		}
	}
	return all
}
