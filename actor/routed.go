package actor

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
)

type router interface {
	Told(full string, msg any, m metadata.Metadata) (here AnyRef)
	Arrived(path string, from uint64, msg any, encoded actorhook.Arrival) (here AnyRef)
}

// A straightRouter knows actors of this node that take the messages of other nodes without it.
type straightRouter interface {
	Straight(name string) (here AnyRef)
}

// A bypassedRouter knows actors with a bypass that also takes the messages of other nodes, and gets
// all others with their prefix.
type bypassedRouter interface {
	Bypassed(name string) (around AnyRef)
	Arrived(name string, from uint64, encoded actorhook.Arrival)
}

// A routed ref stands for an actor that a router finds for each message, on this node or another.
// It has no address: on every node it means the same actor.
type routed struct {
	core core
	full string // its full path, without an address
	all  *routedRefs
	ref  any                  // the ActorRef that leads here
	here atomic.Pointer[core] // the actor, while it takes the messages of this node; nil: ask the router
}

// False means that the actor is not known to be here, or that its mailbox is not plain.
func tellHere[M any](r *routed, msg M, asked *metadata.Request) bool {
	if to := r.here.Load(); to != nil {
		q, ok := to.queue.(*queue[M])
		return ok && tryPut(to, q, msg, asked, false)
	}
	return false
}

func (r *routed) route(msg any, m metadata.Metadata) { r.found(r.all.router.Told(r.full, msg, m)) }

func (r *routed) found(here AnyRef) {
	var to *core
	if here != nil {
		to = here.target()
	}
	if r.here.Load() != to {
		r.here.Store(to)
	}
}

func (r *routed) deliver(msg any, by entrance) {
	if err := r.all.accept(msg); err != nil {
		r.core.sys.deadLetter(&r.core, msg, err)
		return
	}
	r.route(msg, by.metadata)
}

// from is the number of the sending node, which the ref of that node has as the number of the
// actor. The messages before begin have been delivered.
func (r *routed) arrive(from uint64, all []actorhook.Arrival, begin int, by actorhook.Dispatcher) {
	for i := begin; i < len(all); i++ {
		msg, err := unpack(r.core.sys, &all[i])
		if err != nil {
			by.Undecodable(i, err)
		} else if unfit := r.all.accept(msg); unfit != nil {
			r.core.sys.deadLetter(&r.core, msg, unfit)
		} else {
			r.found(r.all.router.Arrived(r.core.label, from, msg, all[i]))
		}
	}
}

// straightRouters are routers that do not see every message of another node, by what comes before
// the names in paths.
type straightRouters struct {
	atomic.Pointer[map[string]any]
}

// arrive delivers messages of another node to the actor at a path whose router would only
// do the same. It returns how many it has delivered; the rest is for the router. That is found by
// the path and not by a ref: there need not be one on this node.
func (s *straightRouters) arrive(path string, from uint64, all []actorhook.Arrival, by actorhook.Dispatcher) (taken int) {
	routers := s.Load()
	if routers == nil {
		return 0
	}
	name := strings.LastIndexByte(path, '/') + 1
	switch to := (*routers)[path[:name]].(type) {
	case straightRouter:
		// It may end from now on. Then its mailbox is not plain any more, and the router gets the
		// rest.
		if here := to.Straight(path[name:]); here != nil {
			taken = here.target().impl.(*cell).box.deliverEncoded(all, by, plainly)
		}
	case bypassedRouter:
		if around := to.Bypassed(path[name:]); around != nil {
			taken = deliverBypassed(around.target(), all, by)
		}
		for i := taken; i < len(all); i++ {
			to.Arrived(path[name:], from, all[i])
		}
		return len(all)
	}
	return taken
}

// As for tellChild: once the bypass is closed, the child takes none.
func deliverBypassed(c *core, all []actorhook.Arrival, by actorhook.Dispatcher) (taken int) {
	if !c.flags.has(bypassed) {
		return 0
	}
	to := c.impl.(*cell).bypass.Load() // only a cell is bypassed
	if to == nil {
		return 0
	}
	return to.box.deliverEncoded(all, by, instead)
}

// The first router of a prefix stays: another one may be of no use.
func (s *straightRouters) add(prefix string, by any) {
	for {
		before := s.Load()
		all := map[string]any{prefix: by}
		if before != nil {
			maps.Copy(all, *before)
		}
		if s.CompareAndSwap(before, &all) {
			return
		}
	}
}

func isRouted(c *core) bool {
	_, routed := c.impl.(*routed)
	return routed
}

// A tree stands beside "/user" and "/system".
type tree struct {
	prefix string // "/sharding/"
	find   func(path string) (AnyRef, error)
	before *tree
}

// Below the tree there are either refs, or a router of another kind.
func (s internals) AddTree(name string, find func(path string) (AnyRef, error), by interface {
	Bypassed(name string) (around AnyRef)
	Arrived(name string, from uint64, encoded actorhook.Arrival)
},
) {
	if by != nil {
		s.straight.add("/"+name+"/", by)
		return
	}
	t := &tree{prefix: "/" + name + "/", find: find, before: s.tree.Load()}
	for !s.tree.CompareAndSwap(t.before, t) {
		t.before = s.tree.Load()
	}
}

// Without a core, why is what the extension says about that, if anything.
func routedAt(s *System, path string) (c *core, why error) {
	for t := s.tree.Load(); t != nil; t = t.before {
		if rest, below := strings.CutPrefix(path, t.prefix); below {
			ref, why := t.find(rest)
			if ref == nil {
				return nil, why
			}
			return ref.target(), nil
		}
	}
	return nil, nil
}

func noActorAt(s *System, path string) error {
	if _, why := routedAt(s, path); why != nil {
		return fmt.Errorf("%w: %w", ErrNoSuchActor, why)
	}
	return ErrNoSuchActor
}

// routedRefs makes refs of one path equal, as long as one of them exists.
type routedRefs struct {
	sys    *System
	scheme string
	prefix string
	router router
	accept func(msg any) error // why a message has the wrong type
	refTo  func(made any) any  // the ActorRef to a core

	mu    sync.Mutex
	cores map[string]weak.Pointer[routed]
	sweep int
}

// Routed returns what makes the refs.
func (s internals) Routed(prefix string, accept func(msg any) error, refTo func(made any) any, by interface {
	Told(full string, msg any, m metadata.Metadata) (here AnyRef)
	Arrived(path string, from uint64, msg any, encoded actorhook.Arrival) (here AnyRef)
},
) func(name string) (ref any) {
	all := &routedRefs{sys: s.System, scheme: "understudy://" + s.Name(), prefix: prefix, router: by, accept: accept, refTo: refTo, cores: map[string]weak.Pointer[routed]{}}
	if straight, ok := by.(straightRouter); ok {
		s.straight.add(prefix, straight)
	}
	return all.find
}

// find allocates nothing for a ref that there is: users look one up for each message.
func (all *routedRefs) find(name string) (ref any) {
	all.mu.Lock()
	r := all.cores[name].Value()
	if r == nil {
		r = all.add(name)
	}
	all.mu.Unlock()
	return r.ref
}

// mu is held.
func (all *routedRefs) add(name string) *routed {
	full := all.scheme + all.prefix + name
	r := &routed{core: core{sys: all.sys, label: full[len(all.scheme):]}, full: full, all: all}
	r.core.impl, r.ref = r, all.refTo(&r.core)
	all.forget()
	all.cores[r.core.label[len(all.prefix):]] = weak.Make(r)
	return r
}

// forget does nothing until there are twice as many entries as cores remained the last time.
func (all *routedRefs) forget() {
	if len(all.cores) < max(all.sweep, minSweep) {
		return
	}
	for name, c := range all.cores {
		if c.Value() == nil {
			delete(all.cores, name)
		}
	}
	all.sweep = 2 * len(all.cores)
}

func (s internals) SendTo(to actorhook.Target, msg any, m metadata.Metadata) {
	asked := m.Request()
	switch t, describes := s.transport.(describingTransport); {
	case s.transport == nil:
		s.reportDeadLetter(to.Full, msg, ErrUnreachable)
		return
	case asked != nil && !asked.TakeAway():
		s.reportDeadLetter(to.Full, msg, ErrWithdrawn)
		return
	case !m.IsEmpty() && describes:
		at := to // so that to stays on the stack
		t.SendWith(hop(s.tracer, &at, m, msg), nil, s.System, at, msg)
	default:
		s.transport.Send(s.System, to, msg)
	}
	s.sent.Add(1)
}
