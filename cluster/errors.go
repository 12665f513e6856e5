package cluster

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
)

// What the functions of this package return; compare with [errors.Is].
var (
	// ErrNotMember is returned by [Node.Down] for a name that no member has.
	ErrNotMember = errors.New("cluster: no such member")
	// ErrNotSeeking is returned by [Node.FoundWithout] of a node that is in a cluster, or stops.
	ErrNotSeeking = errors.New("cluster: the node does not look for a cluster")
	// ErrEnded is returned by [Start] when the node was removed again before it was up.
	ErrEnded = errors.New("cluster: node has ended")
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

func init() {
	for name, err := range map[string]error{
		"understudy/cluster.not-member":  ErrNotMember,
		"understudy/cluster.not-seeking": ErrNotSeeking,
		"understudy/cluster.ended":       ErrEnded,
	} {
		actor.RegisterError(name, err)
	}
}
