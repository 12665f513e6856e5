package persistence

import (
	"reflect"

	"github.com/understudy-go/understudy/actor"
)

// handlers are the functions of a user, and what else needs the types of an actor. They are all
// that is compiled for each actor: an entity has commands, events and states as values of type any.
//
// A value of type states has the state of an actor; only the handlers look into it.
type handlers interface {
	types() types
	// begin returns the states of an actor that begins with a snapshot, or for nil with the initial
	// state.
	begin(snapshot any) states
	// command and signal return the plan of what the user's function returns.
	command(at states, ctx actorContext, cmd any) *plan
	signal(at states, ctx actorContext, sig Signal) *plan
	// add applies a.event to the next state, and returns a with what the functions of the user make
	// of it. The first event of a batch begins with the present state.
	add(at states, a addition) addition
	// commit makes the next state the present one.
	commit(at states)
	// replay applies an event to the next state, and adapt those that the user makes of stored, or
	// gives them to each, unless that is nil.
	replay(at states, event any)
	adapt(at states, stored StoredEvent, each func(event any)) error
	// value returns the present state.
	value(at states) any
}

type types struct{ command, event, state reflect.Type }

type states any

type statesOf[S any] struct{ now, next S }

type addition struct {
	event any
	seq   uint64
	first bool // of its batch
	due   bool // a snapshot is due after it

	stored  any // in place of the event
	version int
	lost    bool // recovery could not read what is stored
	tags    []string
}

type typed[M, E, S any] struct {
	def          definition
	initial      S
	onEvent      func(S, E) S
	onCommand    func(*actor.Context[M], S, M) Effect[E]
	onSignal     func(*actor.Context[M], S, Signal) Effect[E]
	tags         func(S, E) []string
	toJournal    func(E) (any, int)
	fromJournal  func(StoredEvent) ([]E, error)
	snapshotWhen func(S, E, uint64) bool
}

func (t *typed[M, E, S]) types() types {
	return types{reflect.TypeFor[M](), reflect.TypeFor[E](), reflect.TypeFor[S]()}
}

func (t *typed[M, E, S]) begin(snapshot any) states {
	at := &statesOf[S]{now: t.initial, next: t.initial}
	if snapshot != nil {
		at.next = snapshot.(S)
	}
	return at
}

func (t *typed[M, E, S]) command(at states, ctx actorContext, cmd any) *plan {
	return planOf(t.onCommand(ctx.(*actor.Context[M]), at.(*statesOf[S]).now, as[M](cmd)))
}

func (t *typed[M, E, S]) signal(at states, ctx actorContext, sig Signal) *plan {
	return planOf(t.onSignal(ctx.(*actor.Context[M]), at.(*statesOf[S]).now, sig))
}

func (t *typed[M, E, S]) add(at states, a addition) addition {
	s, e := at.(*statesOf[S]), as[E](a.event)
	if a.first {
		s.next = s.now
	}
	s.next = t.onEvent(s.next, e)
	a.stored = a.event
	if t.toJournal != nil {
		a.stored, a.version = t.toJournal(e)
		_, readable := a.stored.(E)
		a.lost = !readable && a.stored != nil && t.fromJournal == nil
	}
	if t.tags != nil {
		a.tags = t.tags(s.next, e)
	}
	a.due = a.due || t.snapshotWhen != nil && t.snapshotWhen(s.next, e, a.seq)
	return a
}

func (t *typed[M, E, S]) commit(at states) {
	s := at.(*statesOf[S])
	s.now = s.next
}

func (t *typed[M, E, S]) replay(at states, event any) {
	s := at.(*statesOf[S])
	s.next = t.onEvent(s.next, as[E](event))
}

func (t *typed[M, E, S]) adapt(at states, stored StoredEvent, each func(event any)) error {
	s := at.(*statesOf[S])
	events, err := t.fromJournal(stored)
	if err != nil {
		return err
	}
	for _, event := range events {
		if each != nil {
			each(event)
			continue
		}
		s.next = t.onEvent(s.next, event)
	}
	return nil
}

func (t *typed[M, E, S]) value(at states) any { return at.(*statesOf[S]).now }

// as returns v, which is a T or, if T is an interface, nil.
func as[T any](v any) T {
	t, _ := v.(T)
	return t
}
