package remote

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/remote/internal/deathwatch"
)

// Watch calls ended, once, when the actor at target is known to have ended or not to live,
// or its node to be gone, unless stop has been called before. It is what
// [actor.Context.Watch] uses for actors on other nodes, and panics before [Endpoint.Serve].
// It does not block.
func (e *Endpoint) Watch(_ *actor.System, target extension.Target, ended func()) (stop func()) {
	return e.watcher.Load().Watch(target, ended)
}

// Members tells the endpoint who the members of the cluster are, as this node knows it under
// the name of self; nil means that it is in no cluster at present. From then on, watches of actors
// of a node end when that has been a member and is none any more, or is none and has not answered
// for ten seconds; and asks of members that are gone end with [actor.ErrUnreachable]. Both end at
// once when they begin after that. It must be called after [Endpoint.Serve], and does not block.
func (e *Endpoint) Members(self NodeID, all []NodeID) {
	if all == nil {
		e.watcher.Load().NotAMember()
		return
	}
	e.watcher.Load().Members(self, all)
}

// watchFor starts the watcher of the system that is served.
func (e *Endpoint) watchFor(s *actor.System) {
	e.watcher.Store(deathwatch.Start(s, func() NodeID {
		return NodeID{Address: e.addr, Incarnation: e.incarnation.Load()}
	}))
}
