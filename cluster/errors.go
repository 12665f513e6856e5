package cluster

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/membership"
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
		// Nodes refuse with them what is for packages that they do not use.
		"understudy/sharding.unavailable":  shardtree.ErrUnavailable,
		"understudy/placement.unavailable": shardtree.ErrPlacedUnavailable,
	} {
		actor.RegisterError(name, err)
	}
}

// explainUnsharded says why refs to sharded entities and placed actors lead nowhere, until packages
// sharding and placement are used.
func explainUnsharded(s *actor.System, why func(typ string) error, unplaced error) {
	extension.AddTree(s, shardtree.Name, func(path string) (actor.AnyRef, error) {
		typ, _, _ := strings.Cut(path, "/")
		return nil, why(typ)
	})
	extension.AddTree(s, shardtree.Placed, func(string) (actor.AnyRef, error) { return nil, unplaced })
}

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

// dialErrors keeps the last error of each address that could not be reached, for messages to
// people. It drops all when there are too many, because anyone may name addresses without a node.
type dialErrors struct {
	mu  sync.Mutex // guards all
	all map[string]error
}

func (t *dialErrors) note(address string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil || len(t.all) >= membership.MaxMembers {
		t.all = map[string]error{}
	}
	t.all[address] = err
}

func (t *dialErrors) of(addresses []string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, address := range addresses {
		if err := t.all[address]; err != nil {
			all = append(all, fmt.Sprintf("%s: %v", address, err))
		}
	}
	return strings.Join(all, "; ")
}
