package membership

import (
	"errors"
	"fmt"
)

// A RefusedError says that a member does not let this node in, now or later.
type RefusedError struct {
	Address string // of who refused
	Reason  string // in words, which may change
}

// Error returns who refuses, and why.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("cluster: refused by %s: %s", e.Address, e.Reason)
}

// ErrNotJoining is returned when a node is told to found a cluster, and is in one or stops.
var ErrNotJoining = errors.New("cluster: the node does not look for a cluster")
