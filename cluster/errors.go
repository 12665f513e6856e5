package cluster

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
)

// What the functions of this package return; compare with [errors.Is].
var (
	// ErrNotMember is returned by [Node.Down] for a name that no member has.
	ErrNotMember = errors.New("cluster: no such member")
	// ErrEnded is returned by [Start] when the node was removed again before it was up.
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
