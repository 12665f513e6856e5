package membership

import (
	"errors"
	"fmt"
)

// A RefusedError is cluster.RefusedError: a member does not admit this node, now or later.
type RefusedError struct {
	Address string
	Reason  string
}

// Error returns the address of the node that refuses, and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("cluster: refused by %s: %s", e.Address, e.Reason)
}

// ErrNotJoining means that a node should found a cluster, but is in one already or is stopping.
var ErrNotJoining = errors.New("cluster: the node does not look for a cluster")
