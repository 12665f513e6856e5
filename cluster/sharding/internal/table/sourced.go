package table

// Entities says what a node knows of the entities of a type. It never changes again once it is
// known.
type Entities uint8

// What a node may know.
const (
	Unknown      Entities = iota // none has run here
	Plain                        // one has run here that is not event-sourced
	EventSourced                 // those that run here are event-sourced, and this node runs no others
)

// An Agreement says how far the nodes agree that the entities of a type are event-sourced.
type Agreement uint8

// The agreements, in the order in which they are made.
const (
	Open   Agreement = iota // entities may be of both kinds
	Asked                   // each node that knows nothing of the entities is to run no others
	Agreed                  // no node runs others
)
