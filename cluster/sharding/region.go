package sharding

import "github.com/understudy-go/understudy/actor"

// A Region is a type of entities on one node, see [Start]. Any goroutine may call its methods.
type Region[M any] struct {
	plain *region
	refs  func(name string) actor.ActorRef[M]
}

// Ref returns the ref of the entity with that id. The entity need not exist: its first message
// starts it. Refs to one entity are equal, may be sent in messages, and mean the same entity on
// every node that has started the type. They cannot be watched, because an entity that passivates
// has not ended.
//
// Messages of one sender to one entity stay in order, also when the entity passivates, moves or is
// started again, except if its node crashes. As with any actor, a message is lost if the entity
// ends before it has handled it; use Ask to be sure.
//
// Ref panics if the id is not valid; see [ValidateID].
func (r *Region[M]) Ref(id string) actor.ActorRef[M] {
	ref, err := r.Lookup(id)
	if err != nil {
		panic(err)
	}
	return ref
}

// Lookup is [Region.Ref] for an id that comes from outside the program: it returns the error of
// [ValidateID] if the id is not valid.
func (r *Region[M]) Lookup(id string) (actor.ActorRef[M], error) {
	if err := ValidateID(id); err != nil {
		return actor.ActorRef[M]{}, err
	}
	return r.refs(escape(id)), nil
}

// Name returns the name of the type.
func (r *Region[M]) Name() string { return r.plain.name }
