package cluster

import (
	"errors"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/shardtree"
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

// explainUnsharded says why refs to sharded entities and placed actors lead nowhere, until packages
// sharding and placement are used.
func explainUnsharded(s *actor.System, why func(typ string) error) {
	extension.AddTree(s, shardtree.Name, func(path string) (actor.AnyRef, error) {
		typ, _, _ := strings.Cut(path, "/")
		return nil, why(typ)
	})
	extension.AddTree(s, shardtree.Placed, func(string) (actor.AnyRef, error) { return nil, shardtree.ErrNoPlacement })
}
