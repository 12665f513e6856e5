package receptionist

import (
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// Register makes an actor of s an instance of a service, until it ends or is deregistered.
// When Register returns, [Find] on this node finds it; other nodes hear of it soon.
// Registering twice is registering once. An actor may be an instance of several services.
//
// It panics when the service is used with another type of messages on this node, when ref
// is nobody's or that of an actor on another node: register it there; and on a client of a
// cluster, which is no node.
func Register[M any](s *actor.System, key ServiceKey[M], ref actor.ActorRef[M]) {
	mustBeInside(s, "register for", key.name)
	o := officeOf(s)
	e := entryOf(s, key, ref)
	added := false
	o.change(func(r *registry) []parcel {
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

// await takes out a registration when its actor ends.
func (o *office) await(e entry, ref actor.AnyRef) {
	dismiss := extension.AfterEnd(o.system, ref, func() { o.remove(e) })
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, still := o.here[e]; still {
		o.here[e] = registration{ref, dismiss}
	} else {
		dismiss()
	}
}

// Deregister takes an actor out of a service. When it returns, [Find] on this node finds
// it no more. One that is not registered is fine.
func Deregister[M any](s *actor.System, key ServiceKey[M], ref actor.ActorRef[M]) {
	o := officeOf(s)
	o.remove(entry{Service: key.name, Type: typeName(reflect.TypeFor[M]()), Ref: ref.String()})
}

// remove takes out a registration of this node.
func (o *office) remove(e entry) {
	removed := false
	o.change(func(r *registry) []parcel {
		if removed = r.remove(e); removed {
			if dismiss := o.here[e].dismiss; dismiss != nil {
				dismiss()
			}
			delete(o.here, e)
		}
		return nil
	})
	if removed {
		o.wake()
	}
}

// Find returns what this node knows of a service now. It does not wait for other nodes. It
// panics when the service is used with another type of messages on this node. On a client
// of a cluster, which is no node, it finds nothing, and the Err of the listing says so.
func Find[M any](s *actor.System, key ServiceKey[M]) Listing[M] {
	l, _ := current(officeOf(s), key)
	if why := Outside(s); why != nil {
		l.Err = fmt.Errorf("receptionist: service %q: %w; use cluster.Lookup", key.name, why)
	}
	return l
}

// Subscribe tells an actor of a service: handle gets the listing as it is now, and then the
// newest whenever it has changed. handle runs inside the actor, in its place among the
// messages, and returns the next behavior, nil for the same.
//
// While the actor has not come to handle one, newer listings take its place, and no more
// than one ever waits, whatever the bound of the mailbox. The subscription ends when what
// the actor is now comes to its end, as with [actor.Context.Defer]: so subscribe where the
// behavior begins. It panics when the service is used with another type of messages on
// this node, and on a client of a cluster.
func Subscribe[M, T any](ctx *actor.Context[T], key ServiceKey[M], handle func(Listing[M]) actor.Behavior[T]) {
	mustBeInside(ctx.System(), "subscribe to", key.name)
	o := officeOf(ctx.System())
	var last Listing[M]
	var seen uint64
	l := &listener{}
	l.notify = ctx.Notify(func() actor.Behavior[T] {
		fresh, version := current(o, key)
		if version == seen || seen > 0 && fresh.same(last) {
			return nil
		}
		last, seen = fresh, version
		return handle(fresh)
	})
	o.change(func(*registry) []parcel {
		use(o, key).listeners[l] = true
		return nil
	})
	ctx.Defer(func() {
		o.change(func(*registry) []parcel {
			s := use(o, key)
			if delete(s.listeners, l); len(s.listeners) == 0 {
				o.registry.dirty[key.name] = true // it may be of no use any more
			}
			return nil
		})
	})
	l.notify()
}

// entryOf returns what others are told of ref. It panics when ref cannot be registered.
func entryOf[M any](s *actor.System, key ServiceKey[M], ref actor.ActorRef[M]) entry {
	if ref == (actor.ActorRef[M]{}) {
		panic(fmt.Sprintf("receptionist: cannot register the zero ActorRef for service %q", key.name))
	}
	if !extension.Owns(s, ref) {
		panic(fmt.Sprintf("receptionist: cannot register %s for service %q: it lives on another node; register it there", ref.Path(), key.name))
	}
	_, _ = ref.MarshalCBOR() // makes adapters reachable from other nodes; it cannot fail
	return entry{Service: key.name, Type: typeName(reflect.TypeFor[M]()), Ref: ref.String()}
}
