package cluster

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
)

// Errors of this package; compare with [errors.Is].
var (
	// ErrNotMember is returned by [Node.Down] if no member has that name.
	ErrNotMember = errors.New("cluster: no such member")
	// ErrEnded is returned by [Start] if the node was removed before it became up.
	ErrEnded = errors.New("cluster: node has ended")
)

func init() {
	for name, err := range map[string]error{
		"understudy/cluster.not-member":  ErrNotMember,
		"understudy/cluster.not-joining": ErrNotJoining,
		"understudy/cluster.ended":       ErrEnded,
	} {
		actor.RegisterError(name, err)
	}
}
