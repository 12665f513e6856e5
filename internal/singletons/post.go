package singletons

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// A Post sends messages to the hubs of other nodes. It belongs to one actor.
type Post struct {
	System *actor.System

	// The last hub that it has sent to: looking one up takes as long as a local message.
	address string
	hub     actor.ActorRef[any]

	name, entry, full string // of the last singleton to which it has sent straight
}

// Send sends a message to the hub of a node.
func (p *Post) Send(to remote.NodeID, msg wire.Any) { p.SendWith(to, msg, extension.Metadata{}) }

// SendWith is Send with metadata.
func (p *Post) SendWith(to remote.NodeID, msg wire.Any, m extension.Metadata) {
	extension.TellWith[any](p.HubOf(to), msg, m)
}

// HubOf returns the hub of a node.
func (p *Post) HubOf(to remote.NodeID) actor.ActorRef[any] {
	if p.address != to.Address {
		path := "understudy://" + p.System.Name() + "@" + to.Address + "/system/" + hubName
		p.address, p.hub = to.Address, actor.Resolve[any](p.System, path)
	}
	return p.hub
}
