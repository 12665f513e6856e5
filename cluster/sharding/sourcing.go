package sharding

import (
	"errors"
	"sync/atomic"

	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// sourcing is what this node knows of whether the entities of a type are event-sourced. Any
// goroutine may call its methods.
type sourcing struct {
	entities atomic.Uint32 // a table.Entities
	agreed   atomic.Bool   // the nodes agree that they are
}

// found returns what the entities are: kind, unless it has been known before.
func (s *sourcing) found(kind table.Entities) (is table.Entities) {
	s.entities.CompareAndSwap(uint32(table.Unknown), uint32(kind))
	return s.is()
}

func (s *sourcing) is() table.Entities { return table.Entities(s.entities.Load()) } //nolint:gosec // found has stored it

// learn takes the agreement of the table, and returns what the entities are.
func (s *sourcing) learn(of table.Agreement) (is table.Entities) {
	s.agreed.Store(of == table.Agreed)
	if of == table.Open {
		return s.is()
	}
	return s.found(table.EventSourced)
}

var errNotEventSourced = errors.New("the type is event-sourced, and this entity is not; give such entities a type of their own")

// claimed notes that an entity that is starting has claimed a persistence id. The claim of an actor
// that it has spawned counts for nothing: that one has another name.
func (r *residents) claimed(name string) {
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	if e := r.all[name]; e != nil {
		e.claims = true
	}
}

// Begun implements extension.Owner. The first entity that starts on a node tells what all are. One
// that is not event-sourced would not be fenced, and might run beside its next incarnation, so a
// node that has promised not to run any ends it before its first message.
func (r *residents) Begun(name string) error {
	claims := r.begins(name)
	of := &r.lane.region.sourcing
	before, kind := of.is(), table.Plain
	if before == table.Plain {
		return nil
	}
	if claims {
		kind = table.EventSourced
	}
	is := of.found(kind)
	if is != before {
		r.lane.region.hub.ref.TellNoWait(helloDue{})
	}
	if is == table.EventSourced && kind == table.Plain {
		return errNotEventSourced
	}
	return nil
}

// begins notes that an incarnation has started, and reports whether it has made a claim. If it was
// woken for a timer, it waits for that from now on.
func (r *residents) begins(name string) (claims bool) {
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	e := r.all[name]
	if e == nil {
		return false
	}
	if e.timed {
		e.until = r.lane.region.now() + wakesStay
	}
	claims, e.claims = e.claims, false
	return claims
}
