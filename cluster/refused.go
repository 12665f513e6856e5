package cluster

import (
	"fmt"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// ErrNotJoining: [Node.FoundWithout] was called on a node that is in a cluster or stops. To give up
// a member of a cluster, call [Node.Down].
var ErrNotJoining = membership.ErrNotJoining

// A RefusedError is returned by [Start] when a member does not let the node join. Address is
// that member, and Reason says why and what to do; its text may change.
type RefusedError struct {
	Address string
	Reason  string
}

// Error returns the address of the node that refuses, and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("cluster: refused by %s: %s", e.Address, e.Reason)
}
