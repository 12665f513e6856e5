package sharding

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
)

// An askedHome is a node to which asks of this node have gone. They end when it is removed: what
// had arrived there is lost with it. They do not once it leaves: it passes on what it has.
type askedHome struct {
	hub    actor.ActorRef[toHub]
	leaves bool
}

// follow implements outside.
func (c *clustered) follow(id node.ID, msg any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.homes[id]
	if h == nil {
		h = &askedHome{hub: c.hubOf(id)}
		c.homes[id] = h
		c.lookAtHomes()
	}
	if !h.leaves {
		extension.Follow(h.hub, msg)
	}
}

// lookAtHomes notes which homes leave, and forgets those that are no members. mu is held.
func (c *clustered) lookAtHomes() {
	if len(c.homes) == 0 {
		return
	}
	members := make(map[node.ID]bool, len(c.view.Members)) // whether they leave
	for _, m := range c.view.Members {
		members[m.ID()] = m.Status == cluster.Leaving || m.Status == cluster.Exiting
	}
	for id, h := range c.homes {
		leaves, member := members[id]
		if !member {
			delete(c.homes, id)
		}
		if leaves && !h.leaves {
			h.leaves = true
			extension.Unfollow(h.hub)
		}
	}
}
