package receptionist

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/services"
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
	services.Of(s).Register(kindOf(s, key), entryOf(s, key, ref), ref)
}

func mustBeInside(s *actor.System, what, service string) {
	if why := peers.Outside(s); why != nil {
		panic(fmt.Sprintf("receptionist: cannot %s service %q: %v; do it on a node, and look services up by cluster.Lookup", what, service, why))
	}
}

// Deregister ends the registration of an actor for a service. When it has returned, [Find] on this
// node does not find the actor. It does nothing for an actor that is not registered.
func Deregister[M any](s *actor.System, key ServiceKey[M], ref actor.ActorRef[M]) {
	services.Of(s).Remove(services.Entry{Service: key.name, Type: codec.TypeName(reflect.TypeFor[M]()), Ref: ref.String()})
}

// Find returns the instances of a service that this node knows now, without waiting for other
// nodes. On a client of a cluster it finds none, and the Err of the listing says why. Find panics
// if the service is used with another type of messages on this node.
func Find[M any](s *actor.System, key ServiceKey[M]) Listing[M] {
	l, _ := current(s, key)
	if why := peers.Outside(s); why != nil {
		l.Err = fmt.Errorf("receptionist: service %q: %w; use cluster.Lookup", key.name, why)
	}
	return l
}

func current[M any](s *actor.System, key ServiceKey[M]) (l Listing[M], version uint64) {
	listing, version := services.Of(s).Listing(kindOf(s, key))
	return listing.(Listing[M]), version // the service has one type here
}

func kindOf[M any](s *actor.System, key ServiceKey[M]) services.Kind {
	return services.Kind{
		Name: key.name, Message: reflect.TypeFor[M](),
		List: func(all []services.Found, here func(services.Found) actor.AnyRef) any {
			return newListing(key.name, all, func(f services.Found) actor.ActorRef[M] {
				if ref := here(f); ref != nil {
					return ref.(actor.ActorRef[M])
				}
				return actor.Resolve[M](s, f.Entry.Ref)
			})
		},
		Report: func(e services.Entry) {
			want := codec.TypeName(reflect.TypeFor[M]())
			err := mismatch(e, want)
			s.Log().Error("service of another type", zap.String("service", key.name), zap.Error(err))
			s.Publish(Mismatch{Service: key.name, Ref: e.Ref, Type: e.Type, Expected: want, Err: err})
		},
	}
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
	var last Listing[M]
	var seen uint64
	var over atomic.Bool
	notify := extension.TellLatest(ref, func() (Listing[M], bool) {
		if over.Load() {
			return Listing[M]{}, false
		}
		fresh, version := current(s, key)
		if version == seen || seen > 0 && fresh.same(last) {
			return Listing[M]{}, false
		}
		last, seen = fresh, version
		return fresh, true
	})
	unsubscribe := services.Of(s).Subscribe(kindOf(s, key), notify)
	end := sync.OnceFunc(func() {
		over.Store(true)
		unsubscribe()
	})
	stop := extension.AfterEnd(s, ref, end)
	notify()
	return func() {
		stop()
		end()
	}
}

// entryOf panics if ref cannot be registered.
func entryOf[M any](s *actor.System, key ServiceKey[M], ref actor.ActorRef[M]) services.Entry {
	if ref == (actor.ActorRef[M]{}) {
		panic(fmt.Sprintf("receptionist: cannot register the zero ActorRef for service %q", key.name))
	}
	if !extension.Owns(s, ref) {
		panic(fmt.Sprintf("receptionist: cannot register %s for service %q: it lives on another node; register it there", ref.Path(), key.name))
	}
	_, _ = ref.MarshalCBOR() // makes adapters reachable from other nodes; it cannot fail
	return services.Entry{Service: key.name, Type: codec.TypeName(reflect.TypeFor[M]()), Ref: ref.String()}
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
