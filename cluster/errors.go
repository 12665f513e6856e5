package cluster

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
)

// Errors of this package; compare with [errors.Is].
var (
	// ErrNotMember: no member has the name that [Node.Down] was given. It takes the Config.NodeID
	// of a member, not its address; the text lists the members.
	ErrNotMember = errors.New("cluster: no such member")
	// ErrEnded: the node was removed before [Start] returned, for example downed with StayDown. The
	// log line "this node is down" has the cause. Start it again when that is gone.
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
