package hubs

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/remote"
)

// An askedHome is a node to which asks of this node have gone. They end when it is removed: what
// had arrived there is lost with it. They do not once it leaves: it passes on what it has.
type askedHome struct {
	hub    actor.AnyRef
	leaves bool
}

// Follow lets the ask of the request msg end when the node to which it is sent is removed. It does
// not if that node leaves first.
func (p *Post) Follow(id remote.NodeID, msg any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.homes[id]
	if h == nil {
		h = &askedHome{hub: p.hubOf(id)}
		p.homes[id] = h
		p.lookAtHomes()
	}
	if !h.leaves {
		extension.Follow(h.hub, msg)
	}
}

// lookAtHomes notes which homes leave, and forgets those that are no members. mu is held.
func (p *Post) lookAtHomes() {
	if len(p.homes) == 0 {
		return
	}
	members := make(map[remote.NodeID]bool, len(p.view.Members)) // whether they leave
	for _, m := range p.view.Members {
		members[m.ID()] = m.Status == cluster.Leaving || m.Status == cluster.Exiting
	}
	for id, h := range p.homes {
		leaves, member := members[id]
		if !member {
			delete(p.homes, id)
		}
		if leaves && !h.leaves {
			h.leaves = true
			extension.Unfollow(h.hub)
		}
	}
}
