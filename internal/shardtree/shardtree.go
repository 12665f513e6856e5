// Package shardtree says why a ref to a sharded entity or a placed actor leads nowhere. Package
// cluster says so on nodes and clients that do not use packages sharding and placement, which it
// must not import.
package shardtree

import (
	"errors"
	"fmt"
)

// Placed is the first element of the paths of placed actors: "/placement/label".
const Placed = "placement"

// The errors of packages placement and sharding for what cannot be reached now. A node that was
// started again refuses with them what is for the process before it.
var (
	ErrPlacedUnavailable = errors.New("placement: no actor of that label runs")
	ErrUnavailable       = errors.New("sharding: the entity cannot be reached")
)

// ErrNoPlacement is why a client has no refs to placed actors.
var ErrNoPlacement = errors.New("no refs to placed actors here; call placement.Start on each node, and from a client ask an actor on a node")

// ErrNotPlaced is why a node that has not started placement has no refs to placed actors.
var ErrNotPlaced = fmt.Errorf("%w: %w", ErrNoPlacement, ErrPlacedUnavailable)

// Name is the first element of the paths of sharded entities: "/sharding/type/id".
const Name = "sharding"

// NotOnNode is why a node that has not started a type has no ref to its entities.
func NotOnNode(typ string) error {
	return fmt.Errorf("%w: no region of type %q on this node; call sharding.Start for it, with ProxyOnly if the node must not host it", ErrUnavailable, typ)
}

// NotOnClient is why a client that has not used a type has no ref to its entities.
func NotOnClient(typ string) error {
	return fmt.Errorf("no region of type %q on this client; call sharding.RefOf for it", typ)
}
