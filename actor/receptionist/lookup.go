package receptionist

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/services"
)

// Lookup asks the node at address ("host:port") for the instances of a service. It is for systems
// that are not members of the cluster; members use [Find], which does not ask. In the listing Local
// is false. A listing has at most 10 000 instances, reachable ones first.
//
// Lookup blocks until the answer comes. When ctx ends first, it returns an error that wraps
// ctx.Err().
func Lookup[M any](ctx context.Context, s *actor.System, address string, key ServiceKey[M]) (Listing[M], error) {
	all, err := services.Lookup(ctx, s, address, key.name)
	if err != nil {
		return Listing[M]{Key: key}, fmt.Errorf("receptionist: look up service %q at %s: %w", key.name, address, err)
	}
	return newListing(key.name, all, func(f services.Found) actor.ActorRef[M] { return actor.Resolve[M](s, f.Entry.Ref) }), nil
}

// A Listing is the instances of a service that a node knows at one moment. It does not change. It
// is shared: do not modify it.
type Listing[M any] struct {
	Key       ServiceKey[M]
	Instances []Instance[M] // sorted by path

	// Err names the actors that other nodes have registered under the name of the service with
	// another type of messages, which are not among the instances. It wraps [actor.ErrWrongType].
	// It is nil if all registrations have the right type.
	Err error
}

// An Instance is an actor that is registered for a service.
type Instance[M any] struct {
	Ref       actor.ActorRef[M]
	Node      string // address (host:port) of its node; "" without a cluster
	Local     bool   // it is on the node that made the listing
	Reachable bool   // the cluster considers its node reachable
}

// All returns the refs of all instances.
func (l Listing[M]) All() []actor.ActorRef[M] {
	return l.refs(func(Instance[M]) bool { return true })
}

// Reachable returns the refs of the instances on reachable nodes.
func (l Listing[M]) Reachable() []actor.ActorRef[M] {
	return l.refs(func(i Instance[M]) bool { return i.Reachable })
}

func (l Listing[M]) refs(which func(Instance[M]) bool) []actor.ActorRef[M] {
	refs := make([]actor.ActorRef[M], 0, len(l.Instances))
	for _, i := range l.Instances {
		if which(i) {
			refs = append(refs, i.Ref)
		}
	}
	return refs
}

func newListing[M any](name string, all []services.Found, ref func(services.Found) actor.ActorRef[M]) Listing[M] {
	l := Listing[M]{Key: ServiceKey[M]{name}, Instances: make([]Instance[M], 0, len(all))}
	want := codec.TypeName(reflect.TypeFor[M]())
	var wrong []error
	for _, f := range all {
		if f.Entry.Type != want {
			wrong = append(wrong, mismatch(f.Entry, want))
			continue
		}
		l.Instances = append(l.Instances, Instance[M]{Ref: ref(f), Node: f.Owner.Address, Local: f.Local, Reachable: f.Reachable})
	}
	l.Err = errors.Join(wrong...)
	return l
}

func mismatch(e services.Entry, want string) error {
	return fmt.Errorf("receptionist: service %q: %s takes %s, and this node expects %s: use the same type, registered under the same name, on all nodes: %w",
		e.Service, e.Ref, e.Type, want, actor.ErrWrongType)
}

func (l Listing[M]) same(as Listing[M]) bool {
	return slices.Equal(l.Instances, as.Instances) && fmt.Sprint(l.Err) == fmt.Sprint(as.Err)
}

// A Mismatch is published on the event stream of a node that uses a service, once for each actor
// that another node has registered under the name of the service with another type of messages. It
// is also logged.
type Mismatch struct {
	Service  string
	Ref      string // path and number of the actor
	Type     string // the type of messages that it takes
	Expected string // the type that this node expects
	Err      error  // says all of that; wraps actor.ErrWrongType
}
