package receptionist

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/peers"
)

// Register makes an actor of s an instance of a service, until it ends or is deregistered. When
// Register has returned, [Find] on this node finds it; other nodes learn of it after one message.
// Registering an actor twice has the effect of once. An actor may be an instance of several
// services.
//
// Register panics if the service is used with another type of messages on this node, if ref is zero
// or belongs to an actor of another node (register it there), and on a client of a cluster.
func Register[M any](s *actor.System, key ServiceKey[M], ref actor.ActorRef[M]) {
	mustBeInside(s, "register for", key.name)
	o := of(s)
	e := entryOf(s, key, ref)
	added := false
	o.change(func(r *registry) []envelope {
		use(o, key)
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

func mustBeInside(s *actor.System, what, service string) {
	if why := peers.Outside(s); why != nil {
		panic(fmt.Sprintf("receptionist: cannot %s service %q: %v; do it on a node, and look services up by cluster.Lookup", what, service, why))
	}
}

func (o *receptionist) await(e entry, ref actor.AnyRef) {
	cancel := extension.AfterEnd(o.system, ref, func() { o.remove(e) })
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, still := o.here[e]; still {
		o.here[e] = registration{ref, cancel}
	} else {
		cancel()
	}
}

// Deregister ends the registration of an actor for a service. When it has returned, [Find] on this
// node does not find the actor. It does nothing for an actor that is not registered.
func Deregister[M any](s *actor.System, key ServiceKey[M], ref actor.ActorRef[M]) {
	o := of(s)
	o.remove(entry{Service: key.name, Type: codec.TypeName(reflect.TypeFor[M]()), Ref: ref.String()})
}

func (o *receptionist) remove(e entry) {
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

// Find returns the instances of a service that this node knows now, without waiting for other
// nodes. On a client of a cluster it finds none, and the Err of the listing says why. Find panics
// if the service is used with another type of messages on this node.
func Find[M any](s *actor.System, key ServiceKey[M]) Listing[M] {
	l, _ := current(of(s), key)
	if why := peers.Outside(s); why != nil {
		l.Err = fmt.Errorf("receptionist: service %q: %w; use cluster.Lookup", key.name, why)
	}
	return l
}

// Subscribe sends ref the [Listing] of a service: the current one immediately, and the newest
// whenever it has changed. While ref has not handled one, newer listings replace it, so that no
// more than one ever waits, whatever the bound of the mailbox.
//
// The subscription ends when its actor ends or cancel is called, which may be repeated. An actor
// that subscribes an [actor.Adapt] when it starts cancels the subscription when it restarts:
//
//	ctx.Defer(receptionist.Subscribe(ctx.System(), key, actor.Adapt(ctx, wrap)))
//
// Subscribe panics if the service is used with another type of messages on this node, if ref is not
// an actor of this node, and on a client of a cluster.
func Subscribe[M any](s *actor.System, key ServiceKey[M], ref actor.ActorRef[Listing[M]]) (cancel func()) {
	mustBeInside(s, "subscribe to", key.name)
	if !extension.Owns(s, ref) {
		panic(fmt.Sprintf("receptionist: cannot subscribe %q to service %q: it is no actor of this node; subscribe it on its own", ref.Path(), key.name))
	}
	o := of(s)
	var last Listing[M]
	var seen uint64
	var over atomic.Bool
	l := &listener{}
	l.notify = extension.TellLatest(ref, func() (Listing[M], bool) {
		if over.Load() {
			return Listing[M]{}, false
		}
		fresh, version := current(o, key)
		if version == seen || seen > 0 && fresh.same(last) {
			return Listing[M]{}, false
		}
		last, seen = fresh, version
		return fresh, true
	})
	o.change(func(*registry) []envelope {
		use(o, key).listeners[l] = true
		return nil
	})
	end := sync.OnceFunc(func() {
		over.Store(true)
		o.unsubscribe(key.name, l)
	})
	stop := extension.AfterEnd(s, ref, end)
	l.notify()
	return func() {
		stop()
		end()
	}
}

func (o *receptionist) unsubscribe(name string, l *listener) {
	o.change(func(*registry) []envelope {
		if s := o.services[name]; s != nil {
			if delete(s.listeners, l); len(s.listeners) == 0 {
				o.registry.dirty[name] = true // the service may be of no use any more
			}
		}
		return nil
	})
}

// entryOf panics if ref cannot be registered.
func entryOf[M any](s *actor.System, key ServiceKey[M], ref actor.ActorRef[M]) entry {
	if ref == (actor.ActorRef[M]{}) {
		panic(fmt.Sprintf("receptionist: cannot register the zero ActorRef for service %q", key.name))
	}
	if !extension.Owns(s, ref) {
		panic(fmt.Sprintf("receptionist: cannot register %s for service %q: it lives on another node; register it there", ref.Path(), key.name))
	}
	_, _ = ref.MarshalCBOR() // makes adapters reachable from other nodes; it cannot fail
	return entry{Service: key.name, Type: codec.TypeName(reflect.TypeFor[M]()), Ref: ref.String()}
}

// A ServiceKey identifies a service whose instances take messages of type M. Make one with
// [NewKey]; equal keys are the same service. Using a name with two types is a mistake, but no actor
// gets a message of a type that it does not take: see [Register] and [Listing].
type ServiceKey[M any] struct{ name string }

// NewKey returns the key of a service. It panics unless the name has 1 to 1024 bytes of UTF-8
// without control characters.
func NewKey[M any](name string) ServiceKey[M] {
	if err := naming.CheckLength(name, naming.MaxElement); err != nil {
		panic(fmt.Sprintf("receptionist: the name %q of a service %v", name, err))
	}
	return ServiceKey[M]{name}
}

// Name returns the name of the service; "" for the zero ServiceKey.
func (k ServiceKey[M]) Name() string { return k.name }

// String returns the name and the type of messages.
func (k ServiceKey[M]) String() string { return k.name + " of " + codec.TypeName(reflect.TypeFor[M]()) }
