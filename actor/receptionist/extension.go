package receptionist

import (
	"fmt"
	"reflect"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
)

type receptionist struct {
	system  *actor.System
	locator Locator // nil without a cluster
	started sync.Once

	mu        sync.Mutex
	registry  *registry
	here      map[entry]registration
	services  map[string]*service // those that this process has used
	wakeAgent func()              // nil until it has started
}

type registration struct {
	ref    actor.AnyRef
	cancel func() // stops waiting for its end; nil until that has begun
}

type service struct {
	message   reflect.Type // the type of messages that it has here
	list      func() any   // makes the Listing; receptionist.mu is held
	listing   any          // the result of list; nil after a change
	version   uint64
	listeners map[*listener]bool
	wrong     map[entry]bool // instances of another type, which have been reported
}

type listener struct{ notify func() }

func of(s *actor.System) *receptionist {
	o := extension.Ensure(s, func() *receptionist { return newReceptionist(s, nil) })
	o.started.Do(o.startAgent)
	return o
}

func newReceptionist(s *actor.System, l Locator) *receptionist {
	return &receptionist{
		system: s, locator: l, registry: newRegistry(),
		here: map[entry]registration{}, services: map[string]*service{},
	}
}

// use panics if the name is in use with another type. o.mu is held.
func use[M any](o *receptionist, key ServiceKey[M]) *service {
	if key.name == "" {
		panic("receptionist: the zero ServiceKey; make one by NewKey")
	}
	message := reflect.TypeFor[M]()
	s, known := o.services[key.name]
	if !known {
		s = &service{message: message, version: 1, listeners: map[*listener]bool{}}
		s.list = func() any { return list(o, key) }
		o.services[key.name] = s
		o.registry.dirty[key.name] = true // there may be instances of another type
	}
	if s.message != message {
		panic(fmt.Sprintf("receptionist: service %q is one of %v on this node, and cannot be one of %v too; give it another name", key.name, s.message, message))
	}
	return s
}

// o.mu is held.
func list[M any](o *receptionist, key ServiceKey[M]) Listing[M] {
	return newListing(key.name, o.registry.find(key.name), func(f found) actor.ActorRef[M] {
		if r, here := o.here[f.Entry]; here && f.Local {
			return r.ref.(actor.ActorRef[M]) // its service has one type here
		}
		return actor.Resolve[M](o.system, f.Entry.Ref)
	})
}

func current[M any](o *receptionist, key ServiceKey[M]) (l Listing[M], version uint64) {
	o.change(func(*registry) []envelope {
		s := use(o, key)
		if s.listing == nil {
			s.listing = s.list()
		}
		l, version = s.listing.(Listing[M]), s.version // the service has one type here
		return nil
	})
	return l, version
}

// The order in which goroutines notify does not matter, since each listener reads the newest
// listing.
func (o *receptionist) change(f func(r *registry) []envelope) []envelope {
	out, listeners, wrong := o.changeLocked(f)
	for _, l := range listeners {
		l.notify()
	}
	for _, m := range wrong {
		o.system.Log().Error("service of another type", zap.String("service", m.Service), zap.Error(m.Err))
		o.system.Publish(m)
	}
	return out
}

func (o *receptionist) changeLocked(f func(r *registry) []envelope) ([]envelope, []*listener, []Mismatch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := f(o.registry)
	listeners, wrong := o.news()
	return out, listeners, wrong
}

// o.mu is held.
func (o *receptionist) news() (listeners []*listener, wrong []Mismatch) {
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
		for l := range s.listeners {
			listeners = append(listeners, l)
		}
		wrong = append(wrong, o.mismatches(name, s)...)
	}
	return listeners, wrong
}

// Those that have been reported are left out. o.mu is held.
func (o *receptionist) mismatches(name string, s *service) (fresh []Mismatch) {
	want, wrong := codec.TypeName(s.message), map[entry]bool{}
	for l := range o.registry.services[name] {
		if l.entry.Type == want {
			continue
		}
		wrong[l.entry] = true
		if !s.wrong[l.entry] {
			fresh = append(fresh, Mismatch{Service: name, Ref: l.entry.Ref, Type: l.entry.Type, Expected: want, Err: mismatch(l.entry, want)})
		}
	}
	s.wrong = wrong
	return fresh
}

func (o *receptionist) wake() {
	o.mu.Lock()
	wake := o.wakeAgent
	o.mu.Unlock()
	if wake != nil {
		wake()
	}
}

func (o *receptionist) families() []telemetry.Family {
	services, here, elsewhere := o.sizes()
	known := telemetry.NewGauge("understudy_services", "Services and topics that have an instance on any node.").With(float64(services))
	instances := telemetry.NewGauge("understudy_service_instances", "Registrations of actors as instances of services, on this node and on others.", "place").
		With(float64(here), "here").With(float64(elsewhere), "elsewhere")
	return []telemetry.Family{known, instances}
}

func (o *receptionist) sizes() (services, here, elsewhere int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.registry.peers {
		elsewhere += len(p.entries)
	}
	return len(o.registry.services), len(o.registry.own.entries), elsewhere
}
