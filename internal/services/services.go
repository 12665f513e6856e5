// Package services is what a node knows of the services of its cluster. It connects the nodes.
// Package receptionist, above it, adds the types of messages.
package services

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/remote"
)

// A Topology is the members of a cluster as one node knows them.
type Topology struct {
	Self  remote.NodeID
	Peers []Peer // the other members, those that are down or removed not included
}

// A Peer is another member.
type Peer struct {
	ID        remote.NodeID
	Reachable bool
}

// Services are those that one node knows. Any goroutine may use them.
type Services struct {
	system     *actor.System
	topologies func(ctx context.Context) iter.Seq[Topology] // nil without a cluster
	started    sync.Once

	mu        sync.Mutex // guards all below
	registry  *registry
	here      map[Entry]registration
	services  map[string]*service // those that this process has used
	wakeAgent func()              // nil until it has started
}

type registration struct {
	ref    actor.AnyRef
	cancel func() // stops waiting for its end; nil until that has begun
}

// A Kind is a service with its type of messages on this node.
type Kind struct {
	Name    string
	Message reflect.Type

	// List makes a listing, while the services are locked. here returns the ref of an instance of
	// this node, or nil.
	List func(all []Found, here func(Found) actor.AnyRef) any
	// Report reports an instance that takes other messages.
	Report func(e Entry)
}

type service struct {
	Kind
	listing   any // the result of List; nil after a change
	version   uint64
	listeners map[*func()]bool // called after each change
	wrong     map[Entry]bool   // instances of another type, which have been reported
}

// Attach connects the services of s to a cluster. topologies yields the present topology, and then
// the newest one after each change, until its context ends. Call Attach once, before [Of].
func Attach(s *actor.System, topologies func(ctx context.Context) iter.Seq[Topology]) {
	o := newServices(s, topologies)
	extension.Set(s, o)
	o.started.Do(o.startAgent)
}

// Of returns the services of s.
func Of(s *actor.System) *Services {
	o := extension.Ensure(s, func() *Services { return newServices(s, nil) })
	o.started.Do(o.startAgent)
	return o
}

func newServices(s *actor.System, topologies func(ctx context.Context) iter.Seq[Topology]) *Services {
	return &Services{
		system: s, topologies: topologies, registry: newRegistry(),
		here: map[Entry]registration{}, services: map[string]*service{},
	}
}

// use panics if the name is in use with another type. o.mu is held.
func (o *Services) use(k Kind) *service {
	if k.Name == "" {
		panic("receptionist: the zero ServiceKey; make one by NewKey")
	}
	s, known := o.services[k.Name]
	if !known {
		s = &service{Kind: k, version: 1, listeners: map[*func()]bool{}}
		o.services[k.Name] = s
		o.registry.dirty[k.Name] = true // there may be instances of another type
	}
	if s.Message != k.Message {
		panic(fmt.Sprintf("receptionist: service %q is one of %v on this node, and cannot be one of %v too; give it another name", k.Name, s.Message, k.Message))
	}
	return s
}

// Listing returns what List makes of the present instances. It panics if the service is used with
// another type of messages. The version grows with each change.
func (o *Services) Listing(k Kind) (listing any, version uint64) {
	o.change(func(r *registry) []envelope {
		s := o.use(k)
		if s.listing == nil {
			s.listing = s.List(r.find(k.Name), o.refHere)
		}
		listing, version = s.listing, s.version
		return nil
	})
	return listing, version
}

// o.mu is held.
func (o *Services) refHere(f Found) actor.AnyRef {
	if !f.Local {
		return nil
	}
	return o.here[f.Entry].ref
}

// Register adds an actor of this node until it ends or is removed. It panics like Listing.
func (o *Services) Register(k Kind, e Entry, ref actor.AnyRef) {
	added := false
	o.change(func(r *registry) []envelope {
		o.use(k)
		if added = r.add(e); added {
			o.here[e] = registration{ref: ref}
		}
		return nil
	})
	if added {
		o.await(e, ref)
		o.wake()
	}
}

func (o *Services) await(e Entry, ref actor.AnyRef) {
	cancel := extension.AfterEnd(o.system, ref, func() { o.Remove(e) })
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, still := o.here[e]; still {
		o.here[e] = registration{ref, cancel}
	} else {
		cancel()
	}
}

// Remove ends a registration, if there is one.
func (o *Services) Remove(e Entry) {
	removed := false
	o.change(func(r *registry) []envelope {
		if removed = r.remove(e); removed {
			if cancel := o.here[e].cancel; cancel != nil {
				cancel()
			}
			delete(o.here, e)
		}
		return nil
	})
	if removed {
		o.wake()
	}
}

// Subscribe calls notify, which must not block, after each change of a listing until cancel is
// called. It panics like Listing.
func (o *Services) Subscribe(k Kind, notify func()) (cancel func()) {
	o.change(func(*registry) []envelope {
		o.use(k).listeners[&notify] = true
		return nil
	})
	return func() {
		o.change(func(r *registry) []envelope {
			if s := o.services[k.Name]; s != nil {
				if delete(s.listeners, &notify); len(s.listeners) == 0 {
					r.dirty[k.Name] = true // the service may be of no use any more
				}
			}
			return nil
		})
	}
}

// The order in which goroutines notify does not matter, since each listener reads the newest
// listing.
func (o *Services) change(f func(r *registry) []envelope) []envelope {
	out, calls := o.changeLocked(f)
	for _, call := range calls {
		call()
	}
	return out
}

func (o *Services) changeLocked(f func(r *registry) []envelope) (out []envelope, calls []func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return f(o.registry), o.news()
}

// o.mu is held.
func (o *Services) news() (calls []func()) {
	for _, name := range o.registry.changed() {
		s, used := o.services[name]
		if !used {
			continue
		}
		s.listing = nil
		s.version++
		if len(s.listeners) == 0 && len(o.registry.services[name]) == 0 {
			delete(o.services, name) // otherwise names that come and go would accumulate
			continue
		}
		for notify := range s.listeners {
			calls = append(calls, *notify)
		}
		calls = append(calls, o.mismatches(name, s)...)
	}
	return calls
}

// Those that have been reported are left out. o.mu is held.
func (o *Services) mismatches(name string, s *service) (reports []func()) {
	want, wrong := codec.TypeName(s.Message), map[Entry]bool{}
	for l := range o.registry.services[name] {
		if l.entry.Type == want {
			continue
		}
		wrong[l.entry] = true
		if !s.wrong[l.entry] {
			reports = append(reports, func() { s.Report(l.entry) })
		}
	}
	s.wrong = wrong
	return reports
}

func (o *Services) wake() {
	o.mu.Lock()
	wake := o.wakeAgent
	o.mu.Unlock()
	if wake != nil {
		wake()
	}
}

func (o *Services) families() []telemetry.Family {
	services, here, elsewhere := o.sizes()
	known := telemetry.NewGauge("understudy_services", "Services and topics that have an instance on any node.").With(float64(services))
	instances := telemetry.NewGauge("understudy_service_instances", "Registrations of actors as instances of services, on this node and on others.", "place").
		With(float64(here), "here").With(float64(elsewhere), "elsewhere")
	return []telemetry.Family{known, instances}
}

func (o *Services) sizes() (services, here, elsewhere int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.registry.peers {
		elsewhere += len(p.entries)
	}
	return len(o.registry.services), len(o.registry.own.entries), elsewhere
}
