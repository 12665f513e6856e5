package actor

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/payload"
)

// A router is extension.Router.
type router[M any] interface {
	Told(full string, msg M, m metadata.Metadata) (here ActorRef[M])
	Arrived(path string, from uint64, msg M, encoded actorhook.Arrival) (here ActorRef[M])
}

// A routed ref stands for an actor that a router finds for each message, on this node or another.
// It has no address: on every node it means the same actor.
type routed[M any] struct {
	core   core
	full   string // its full path, without an address
	router router[M]
	here   atomic.Pointer[inbox[M]] // the actor, while it takes the messages of this node; nil: ask the router
}

// tell puts msg into the mailbox of the actor if that is known to be here, and otherwise passes it
// to the router.
func (r *routed[M]) tell(msg M) {
	if to := r.here.Load(); to == nil || !to.tellKnown(msg) {
		r.route(msg, metadata.Metadata{})
	}
}

func (r *routed[M]) route(msg M, m metadata.Metadata) {
	r.found(r.router.Told(r.full, msg, m))
}

// found remembers the actor to which the router has passed a message.
func (r *routed[M]) found(here ActorRef[M]) {
	var to *inbox[M]
	if here.c != nil {
		to = &here.c.impl.(*cell[M]).inbox // a router returns what it has spawned
	}
	if r.here.Load() != to {
		r.here.Store(to)
	}
}

// tellRouted is the tell of the port of routed refs, and tellRoutedBy its tellBy.
func tellRouted[M any](c *core, msg M) { c.impl.(*routed[M]).tell(msg) }

func tellRoutedBy[M any](c *core, msg M, by entrance) (unfit error) {
	c.impl.(*routed[M]).route(msg, by.metadata)
	return nil
}

// deliver takes a message of any type.
func (r *routed[M]) deliver(msg any, by entrance) {
	if m, ok := payload.As[M](msg); ok {
		r.route(m, by.metadata)
		return
	}
	r.core.sys.deadLetter(&r.core, msg, wrongType[M](msg))
}

// arrive decodes messages that the node with a number has sent, and passes them to the router. The
// number is what the ref of that node has as the number of the actor.
func (r *routed[M]) arrive(from uint64, all []actorhook.Arrival, by actorhook.Dispatcher) {
	d := arrivalDecoder[M]{sys: r.core.sys}
	for i := range all {
		var msg M
		d.use(all[i].Type)
		unfit, err := d.decode(&all[i], &msg)
		switch {
		case err != nil:
			by.Undecodable(i, err)
		case unfit != nil:
			r.core.sys.deadLetter(&r.core, d.other, unfit)
		default:
			r.found(r.router.Arrived(r.core.label, from, msg, all[i]))
		}
	}
}

// An arriver takes messages of other nodes whatever number they have.
type arriver interface {
	arrive(from uint64, all []actorhook.Arrival, by actorhook.Dispatcher)
}

// isRouted reports whether c stands for whichever actor a router finds.
func isRouted(c *core) bool {
	_, routed := c.impl.(arriver)
	return routed
}

// A tree is what an extension has put under a path of its own, beside "/user" and "/system".
type tree struct {
	prefix string // "/sharding/"
	find   func(path string) (AnyRef, error)
}

// AddTree implements extension.AddTree.
func (s internals) AddTree(name string, find func(path string) (AnyRef, error)) {
	s.tree.Store(&tree{prefix: "/" + name + "/", find: find})
}

// routedAt returns the core of a routed ref, or nil and what the extension says about that, if
// anything.
func routedAt(s *System, path string) (c *core, why error) {
	t := s.tree.Load()
	if t == nil {
		return nil, nil
	}
	rest, below := strings.CutPrefix(path, t.prefix)
	if !below {
		return nil, nil
	}
	ref, why := t.find(rest)
	if ref == nil {
		return nil, why
	}
	return ref.target(), nil
}

// nobodyAt is why a message to a path without an actor is a dead letter.
func nobodyAt(s *System, path string) error {
	if _, why := routedAt(s, path); why != nil {
		return fmt.Errorf("%w: %w", ErrNoSuchActor, why)
	}
	return ErrNoSuchActor
}

// routedRefs makes refs of one path equal, as long as one of them exists.
type routedRefs[M any] struct {
	sys    *System
	scheme string // of full paths: what comes before the prefix
	prefix string
	router router[M]
	port   port

	mu    sync.Mutex // guards all below
	cores map[string]weak.Pointer[core]
	sweep int
}

// Routed implements extension.NewRoutedRefs.
func (behaviorInternals[M]) Routed(s *System, prefix string, by interface {
	Told(full string, msg M, m metadata.Metadata) (here ActorRef[M])
	Arrived(path string, from uint64, msg M, encoded actorhook.Arrival) (here ActorRef[M])
},
) func(name string) ActorRef[M] {
	all := &routedRefs[M]{sys: s, scheme: "understudy://" + s.Name(), prefix: prefix, router: by, cores: map[string]weak.Pointer[core]{}}
	all.port = port{tell: tellRouted[M], tellBy: tellRoutedBy[M]}
	return all.ref
}

func (all *routedRefs[M]) ref(name string) ActorRef[M] {
	all.mu.Lock()
	defer all.mu.Unlock()
	if c := all.cores[name].Value(); c != nil {
		return ActorRef[M]{c}
	}
	full := all.scheme + all.prefix + name
	r := &routed[M]{core: core{sys: all.sys, label: full[len(all.scheme):], port: &all.port}, full: full, router: all.router}
	r.core.impl = r
	all.forget()
	all.cores[r.core.label[len(all.prefix):]] = weak.Make(&r.core)
	return ActorRef[M]{&r.core}
}

// forget drops the entries of collected cores, when there are twice as many entries as cores
// remained the last time.
func (all *routedRefs[M]) forget() {
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

// SendTo implements extension.SendTo.
func (s internals) SendTo(to actorhook.Target, msg any, m metadata.Metadata) {
	switch t, describes := s.transport.(describingTransport); {
	case s.transport == nil:
		s.reportDeadLetter(to.Full, msg, ErrUnreachable)
		return
	case !m.IsEmpty() && describes:
		at := to // so that to stays on the stack
		t.SendWith(hop(s.tracer, &at, m, msg), nil, s.System, at, msg)
	default:
		s.transport.Send(s.System, to, msg)
	}
	s.sent.Add(1)
}
