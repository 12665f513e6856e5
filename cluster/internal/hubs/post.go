// Package hubs connects the nodes of a cluster for messages to what moves. Each node has a hub for
// each kind of it, which is an actor with the same path everywhere. A hub returns messages whose
// recipient is not on its node, and recalls its own.
package hubs

import (
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/remote"
)

// A Post is the cluster as the hub of a node sees it. Any goroutine may call its methods, apart
// from [Post.Receive]. A nil Post is the one of a hub without a cluster, and does nothing.
type Post struct {
	path   string // of all hubs
	system *actor.System
	// A field of type *cluster.Node would cost a second of the compiler's time in each package that
	// shards a type: generic code that reaches this struct compiles all that the node has.
	now       func() cluster.View
	subscribe func(hub *actor.Context[any]) (cancel func())
	on        On

	mu    sync.Mutex // guards all below
	hub   actor.ActorRef[any]
	view  cluster.View
	homes map[remote.NodeID]*askedHome // that asks have gone to
	ticks bool                         // retryDue is under way
}

// An On has what a [Post] calls inside the actor of its hub.
type On struct {
	Viewed func(v cluster.View)          // after each change of the members
	Tick   func(peers Peers) (more bool) // tries again what may have been lost, see [Post.RetrySoon]
}

// NewPost returns the post of the hub of a node.
func NewPost(n *cluster.Node, name string, on On) *Post {
	p := &Post{path: "/system/" + name, system: n.System, now: n.View, on: on, view: n.View(), homes: map[remote.NodeID]*askedHome{}}
	p.subscribe = func(hub *actor.Context[any]) (cancel func()) {
		return cluster.Subscribe(n, extension.Handle(hub, func(v cluster.View) actor.Behavior[any] {
			p.viewed(v)
			return nil
		}))
	}
	return p
}

// Start begins to follow the members. From then on the hub calls [Post.Receive].
func (p *Post) Start(hub actor.ActorRef[any]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hub = hub
	hub.Tell(follow{})
}

// The messages to the actor of a hub from its post.
type (
	follow   struct{ extension.Quiet }
	armRetry struct{ extension.Quiet }
	retryDue struct{ extension.Quiet }
)

// retryEvery is how often what may have been lost is tried again.
const retryEvery = 50 * time.Millisecond

// Receive handles a message to the actor of the hub, if it is one of the post.
func (p *Post) Receive(ctx *actor.Context[any], msg any) (mine bool) {
	if p == nil {
		return false
	}
	switch msg.(type) {
	case follow:
		ctx.Defer(p.subscribe(ctx))
		p.viewed(p.now())
	case armRetry:
		ctx.After("retry", retryEvery, retryDue{})
	case retryDue:
		p.retry()
	default:
		return false
	}
	return true
}

func (p *Post) viewed(v cluster.View) {
	p.mu.Lock()
	p.view = v
	p.lookAtHomes()
	p.mu.Unlock()
	p.on.Viewed(v)
}

// View returns the members as the hub knows them.
func (p *Post) View() cluster.View {
	if p == nil {
		return cluster.View{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view
}

// Self returns this node.
func (p *Post) Self() (id remote.NodeID) {
	if p == nil {
		return id
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view.Self.ID()
}

// Member returns the member of an incarnation.
func (p *Post) Member(incarnation uint64) (remote.NodeID, bool) {
	for _, m := range p.View().Members {
		if m.Incarnation == incarnation && isMember(m) {
			return m.ID(), true
		}
	}
	return remote.NodeID{}, false
}

func isMember(m cluster.Member) bool {
	return m.Status >= cluster.Joining && m.Status <= cluster.Exiting
}

// Reaches reports whether a node is a member that can be reached.
func (p *Post) Reaches(id remote.NodeID) bool {
	at, found := p.At(id.Address)
	return found && at == id
}

// At returns the member at an address, if it can be reached.
func (p *Post) At(address string) (id remote.NodeID, found bool) {
	v := p.View()
	for _, m := range v.Members {
		if m.Address == address && isMember(m) && v.Reachable(m) {
			return m.ID(), true
		}
	}
	return remote.NodeID{}, false
}

// Send sends a message to the hub of another node.
func (p *Post) Send(to remote.NodeID, msg Message, m extension.Metadata) {
	if p == nil {
		return
	}
	msg.From = p.Self()
	extension.TellNoWaitWith(p.hubOf(to), msg, m)
}

func (p *Post) hubOf(id remote.NodeID) actor.ActorRef[Message] {
	return actor.Resolve[Message](p.system, "understudy://"+p.system.Name()+"@"+id.Address+p.path)
}

// RetrySoon lets the hub try again soon what may have been lost.
func (p *Post) RetrySoon() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ticks {
		p.ticks = true
		p.hub.Tell(armRetry{})
	}
}

func (p *Post) retry() {
	p.mu.Lock()
	v := p.view
	p.ticks = false
	p.mu.Unlock()
	peers := Peers{Now: time.Now(), members: make(map[remote.NodeID]bool, len(v.Members))}
	for _, m := range v.Members {
		peers.members[m.ID()] = v.Reachable(m)
	}
	if p.on.Tick(peers) {
		p.RetrySoon()
	}
}

// Peers say what is known of other nodes at one moment.
type Peers struct {
	Now     time.Time
	members map[remote.NodeID]bool // whether each can be reached
}

// Reachable implements [recall.Peers].
func (p Peers) Reachable(id remote.NodeID) bool { return p.members[id] }

// Lost implements [recall.Peers].
func (p Peers) Lost(id remote.NodeID) bool {
	_, member := p.members[id]
	return !member
}
