package transport

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/remote"
)

// Watch calls ended once when the actor at target has ended or does not exist, or its node is
// gone, unless stop has been called before. [actor.Context.Watch] uses it for actors on other
// nodes. It panics before [Endpoint.Serve] and does not block.
func (e *Endpoint) Watch(_ *actor.System, target extension.Target, ended func()) (stop func()) {
	return e.watcher.Load().Watch(target, ended)
}

// Members sets the members of the cluster as this node, known as self, sees them. nil means that
// this node is in no cluster at present. From then on, watches of actors of a node end when the
// node stops being a member, or when it is no member and has not answered for ten seconds. Asks of
// removed members end with [actor.ErrUnreachable]. Watches and asks that begin after the removal
// end at once. Members must be called after [Endpoint.Serve] and does not block.
func (e *Endpoint) Members(self remote.NodeID, all []remote.NodeID) {
	byAddress := make(map[string]uint64, len(all))
	for _, p := range all {
		byAddress[p.Address] = p.Incarnation
	}
	e.members.Store(&byAddress)
	if all == nil {
		e.watcher.Load().NotAMember()
		return
	}
	e.watcher.Load().Members(self, all)
}
