package recall

import "github.com/understudy-go/understudy/internal/node"

// A Route is where a node currently sends messages.
type Route struct {
	Kind RouteKind
	Peer node.ID // for ToPeer
}

// A RouteKind is a kind of [Route].
type RouteKind uint8

// The kinds of routes.
const (
	NoRoute    RouteKind = iota // buffer the messages sent here, return those of other nodes
	ToSelf                      // buffer both: the instance is about to be here, or is stopping
	ToInstance                  // the instance is here
	ToPeer                      // it is on another node; return what others have sent
)
