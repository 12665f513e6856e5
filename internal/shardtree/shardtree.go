// Package shardtree says why a ref to a sharded entity leads nowhere. Package cluster says so on
// nodes and clients that do not use package sharding, which it must not import.
package shardtree

import "fmt"

// Name is the first element of the paths of sharded entities: "/sharding/type/id".
const Name = "sharding"

// NotOnNode is why a node that has not started a type has no ref to its entities.
func NotOnNode(typ string) error {
	return fmt.Errorf("no region of type %q on this node; call sharding.Start for it, with ProxyOnly if the node must not host it", typ)
}

// NotOnClient is why a client that has not used a type has no ref to its entities.
func NotOnClient(typ string) error {
	return fmt.Errorf("no region of type %q on this client; call sharding.RefOf for it", typ)
}
