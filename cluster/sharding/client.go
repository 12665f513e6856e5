package sharding

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

// RefOf returns the ref of the entity of a type with that id, like [Region.Ref]. s is a
// *cluster.Client, or a node that has started the type.
//
// A client sends the messages to one member that has started the type, which passes them on. It
// stays with that member until that leaves, dies or becomes unreachable. What a member that dies
// has not passed on is lost; one that leaves passes everything on first. While no such member can
// be reached, the client keeps up to [DefaultBuffer] messages for the type, and asks the members
// again every second.
//
// RefOf panics if the id is not valid, if M is not the message type with which s has used the type
// before, and on a node that has not started the type.
func RefOf[M any](s Host, typ, id string) actor.ActorRef[M] {
	if err := ValidateID(id); err != nil {
		panic(err)
	}
	system := systemOf(s)
	takers, outside := extension.Get[singletonhook.Takers](system)
	if !outside {
		return started[M](system, typ).Ref(id)
	}
	all := extension.Ensure(system, func() *clientRegions {
		c := &clientRegions{byType: map[string]any{}}
		extension.AddTree(system, shardtree.Name, c.find)
		extension.OnAskTimeout(system, c.unavailable)
		return c
	})
	return clientRegionOf[M](all, system, takers, typ).ref(escape(id))
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
	h, sharded := extension.Get[*hub](s)
	if !sharded || h.region(typ) == nil {
		panic(fmt.Sprintf("sharding: type %q has not been started on this node; call Start, with ProxyOnly if the node must not host it", typ))
	}
	r, ok := h.region(typ).(*Region[M])
	if !ok {
		panic(fmt.Sprintf("sharding: type %q is a %T on this node", typ, h.region(typ)))
	}
	return r
}

// clientRegions are the types that a client has used.
type clientRegions struct {
	mu     sync.Mutex // guards byType
	byType map[string]any
}

func clientRegionOf[M any](all *clientRegions, s *actor.System, takers singletonhook.Takers, typ string) *clientRegion[M] {
	all.mu.Lock()
	defer all.mu.Unlock()
	known, used := all.byType[typ]
	if r, ok := known.(*clientRegion[M]); ok {
		return r
	}
	if used {
		panic(fmt.Sprintf("sharding: type %q is a %T on this client already", typ, known))
	}
	r := &clientRegion[M]{system: s}
	r.ref = extension.NewRoutedRefs(s, "/"+shardtree.Name+"/"+escape(typ)+"/", extension.Router[M](r))
	r.proxy = actor.Spawn(extension.Framework(s), newClientProxy[M](takers, typ, &r.stuck), "sharding:"+escape(typ))
	all.byType[typ] = r
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
	r, known := c.byType[typ].(interface {
		find(name string) actor.AnyRef
	})
	if !known {
		return nil, shardtree.NotOnClient(typ)
	}
	return r.find(name), nil
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
	if r, known := c.byType[typ].(interface{ isStuck() bool }); !known || !r.isStuck() {
		return nil
	}
	return fmt.Errorf("sharding: no member that can be reached has started type %q; call Start on the nodes, with ProxyOnly where no entity is to run", typ)
}

// A clientRegion is a type on a client.
type clientRegion[M any] struct {
	stuck  atomic.Bool // no member that has started the type can be reached
	system *actor.System
	ref    func(name string) actor.ActorRef[M]
	proxy  actor.ActorRef[parcel[M]]
}

// A parcel is a message of a client to the entity with that full path.
type parcel[M any] struct {
	full string
	extension.Held[M]
	askDue bool // there is no message: members are asked again what they have started
}

// LocalOnly says that no parcel leaves its node as such.
func (parcel[M]) LocalOnly() bool { return true }

// Carried is for [extension.DeadLetter].
func (p parcel[M]) Carried(*actor.System) (recipient string, msg any, ok bool) {
	return p.full, p.Message, !p.askDue
}

func (r *clientRegion[M]) isStuck() bool { return r.stuck.Load() }

func (r *clientRegion[M]) find(name string) actor.AnyRef {
	if _, ok := unescape(name); !ok {
		return nil
	}
	return r.ref(name)
}

// Told implements extension.Router.
func (r *clientRegion[M]) Told(full string, msg M, m extension.Metadata) (nowhere actor.ActorRef[M]) {
	d := extension.Described[M]{Message: msg, Metadata: m}
	r.proxy.Tell(parcel[M]{full: full, Held: extension.Hold(r.system, d)})
	return nowhere
}

// Arrived implements extension.Router. No node sends messages for entities to a client.
func (r *clientRegion[M]) Arrived(path string, _ uint64, msg M, encoded extension.Arrival) actor.ActorRef[M] {
	return r.Told("understudy://"+r.system.Name()+path, msg, encoded.Metadata)
}
