package sharding

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/remote"
)

// RefOf returns the ref of the entity of a type with that id, like [Region.Ref]. s is a
// *cluster.Client, or a node that has started the type.
//
// A client sends the messages to one member that has started the type, which passes them on. It
// stays with that member until that leaves, dies or becomes unreachable. What a member that dies
// has not passed on is lost; one that leaves passes everything on first. If a member was started
// again and has not started the type yet, the request of an ask with a deadline goes to another
// one. While no such member can be reached, the client keeps up to [DefaultBuffer] messages for the
// type, and asks the members again every second.
//
// RefOf panics if the id is not valid, if M is not the message type with which s has used the type
// before, and on a node that has not started the type.
func RefOf[M any](s Host, typ, id string) actor.ActorRef[M] {
	if err := ValidateID(id); err != nil {
		panic(err)
	}
	system := systemOf(s)
	takers, outside := extension.Get[singletons.Takers](system)
	if !outside {
		return started[M](system, typ).Ref(id)
	}
	return clientRefs[M](clientRegionsOf(system), takers, typ)(escape(id))
}

// systemOf returns the system of a host, which embeds one.
func systemOf(s Host) *actor.System {
	switch s := s.(type) {
	case *cluster.Node:
		return s.System
	case *cluster.Client:
		return s.System
	case *actor.System:
		return s
	}
	panic(fmt.Sprintf("sharding: a %T is neither a *cluster.Node nor a *cluster.Client nor an *actor.System", s))
}

// started returns the region of a type on a node.
func started[M any](s *actor.System, typ string) *Region[M] {
	shell := startedShell(s, typ)
	r, ok := shell.(*Region[M])
	if !ok {
		panic(fmt.Sprintf("sharding: type %q is a %T on this node", typ, shell))
	}
	return r
}

// startedShell returns the [Region] of a type on a node.
func startedShell(s *actor.System, typ string) any {
	if h, sharded := extension.Get[*hub](s); sharded {
		if r := h.region(typ); r != nil {
			return r.shell
		}
	}
	panic(fmt.Sprintf("sharding: type %q has not been started on this node; call Start, with ProxyOnly if the node must not host it", typ))
}

// clientRegions are the types that a client has used.
type clientRegions struct {
	system *actor.System

	mu     sync.Mutex // guards byType
	byType map[string]*clientRegion
}

func clientRegionsOf(s *actor.System) *clientRegions {
	return extension.Ensure(s, func() *clientRegions {
		c := &clientRegions{system: s, byType: map[string]*clientRegion{}}
		extension.AddTree(s, shardtree.Name, c.find)
		extension.OnAskTimeout(s, c.unavailable)
		return c
	})
}

// clientRefs returns what makes the refs of a type.
func clientRefs[M any](all *clientRegions, takers singletons.Takers, typ string) func(name string) actor.ActorRef[M] {
	all.mu.Lock()
	defer all.mu.Unlock()
	r := all.byType[typ]
	if r == nil {
		r = all.add(takers, typ)
		r.kind = &clientKind[M]{extension.NewRoutedRefs[M](all.system, "/"+shardtree.Name+"/"+escape(typ)+"/", r)}
	}
	kind, ok := r.kind.(*clientKind[M])
	if !ok {
		panic(fmt.Sprintf("sharding: type %q is a %T on this client already", typ, r.kind))
	}
	return kind.refs
}

// add adds a type, without its kind. mu is held.
func (c *clientRegions) add(takers singletons.Takers, typ string) *clientRegion {
	r := &clientRegion{system: c.system}
	r.proxy = actor.Spawn(extension.Framework(c.system), newClientProxy(takers, typ, &r.stuck), "sharding:"+escape(typ))
	c.byType[typ] = r
	return r
}

// find returns the ref with a path below the tree, or nil, and why if the type is not here.
func (c *clientRegions) find(path string) (ref actor.AnyRef, why error) {
	typ, name, ok := cutType(path)
	if !ok {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.byType[typ]
	if r == nil {
		return nil, shardtree.NotOnClient(typ)
	}
	if _, ok := unescape(name); !ok {
		return nil, nil
	}
	return r.kind.ref(name), nil
}

// unavailable explains why an ask of an entity got no reply, see [extension.OnAskTimeout].
func (c *clientRegions) unavailable(path string) error {
	rest, below := strings.CutPrefix(path, "/"+shardtree.Name+"/")
	typ, _, ok := cutType(rest)
	if !below || !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.byType[typ]; r == nil || !r.stuck.Load() {
		return nil
	}
	return nobodyHas(typ)
}

// A clientRegion is a type on a client.
type clientRegion struct {
	stuck  atomic.Bool // no member that has started the type can be reached
	system *actor.System
	proxy  actor.ActorRef[parcel]
	kind   anyKind
}

// A parcel is a message of a client to the entity with that full path.
type parcel struct {
	full string
	extension.Described[any]
	askDue  bool          // there is no message: members are asked again what they have started
	refused remote.NodeID // that member has come back without the type, and has refused the message; zero for none
}

// LocalOnly says that no parcel leaves its node as such.
func (parcel) LocalOnly() bool { return true }

// Carried is for [extension.DeadLetter].
func (p parcel) Carried(*actor.System) (recipient string, msg any, ok bool) {
	return p.full, p.Message, !p.askDue
}

// tell sends a message to the proxy.
func (r *clientRegion) tell(full string, msg any, m extension.Metadata) {
	d := extension.Described[any]{Message: msg, Metadata: m}
	r.proxy.Tell(parcel{full: full, Described: d.Hold()})
}

// An anyKind is a clientKind: what of a type on a client depends on the type of its messages.
type anyKind interface {
	ref(name string) actor.AnyRef
}

type clientKind[M any] struct {
	refs func(name string) actor.ActorRef[M]
}

func (k *clientKind[M]) ref(name string) actor.AnyRef { return k.refs(name) }

// Told implements extension.Router.
func (r *clientRegion) Told(full string, msg any, m extension.Metadata) (nowhere actor.AnyRef) {
	r.tell(full, msg, m)
	return nil
}

// Arrived implements extension.Router. No node sends messages for entities to a client.
func (r *clientRegion) Arrived(path string, _ uint64, msg any, encoded extension.Arrival) (nowhere actor.AnyRef) {
	r.tell("understudy://"+r.system.Name()+path, msg, encoded.Metadata)
	return nil
}
