package persistence

import (
	"errors"
	"fmt"
	"reflect"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A State is the state of a durable state actor, as its handlers see it.
type State[S any] struct {
	// Value is the latest stored value, or the initial value if none is stored or it was
	// deleted. Handlers must not change it: clone maps and slices.
	Value S

	// Revision starts at 0 and grows by one with each stored value and each deletion. It is the
	// sequence number of the record in the journal. For optimistic concurrency, let a command carry
	// the revision that its sender has seen, and refuse it if that is not the latest.
	Revision uint64
}

// A StateChange is the event type of a durable state actor: a new value of type S, or [Deleted].
// Programs need it only as a type argument: Reply[StateChange[Settings]](ref, x).
type StateChange[S any] any

// A StateEffect is the result of a command of a durable state actor: [PersistState],
// [DeleteState], or any other [Effect].
type StateEffect[S any] = Effect[StateChange[S]]

// Deleted is the last record of a deleted durable state. Readers across persistence ids see it.
type Deleted struct{}

const typeDeleted = "understudy/persistence.deleted/1"

func init() { actor.RegisterType[Deleted](typeDeleted) }

// PersistState stores value as the next revision.
func PersistState[S any](value S) StateEffect[S] { return Persist[StateChange[S]](value) }

// DeleteState resets the state to the initial value; the stored values are deleted from the
// journal soon after. The revision grows by one. Return it without calling it, like [None]; to
// chain an action, name its type: DeleteState[Settings].
func DeleteState[S any](p *Plan[StateChange[S]]) { Persist[StateChange[S]](Deleted{})(p) }

// NewDurableState returns the behavior of an actor that stores its latest state and no history. It
// implements behaviors.DurableState, which users call.
//
// The actor works like an event-sourced one, on the same journals, with the same claims, guarantees
// and failures: the package documentation applies, with "value" for "event". Each value is one
// record, whose sequence number is the revision. Recovery reads only the last record. Older records
// are deleted in the background, whenever the revision passes a multiple of 32. A value is decoded
// before it is stored. A value that cannot be decoded is refused with a [RejectedError], and the
// previous value stays.
//
// If an event-sourced actor has ever used id, recovery fails with [ErrNotState]. initial is the
// state while nothing is stored. NewDurableState panics in the same cases as [New].
func NewDurableState[M, S any](
	id string, j Journal, initial S,
	onCommand func(ctx *actor.Context[M], state State[S], cmd M) StateEffect[S],
	opts ...StateOptions[M, S],
) actor.Behavior[M] {
	o, err := only(opts)
	d := &durable{
		settings: settings{
			PassivateAfter: o.PassivateAfter, OnPersistFailure: o.OnPersistFailure,
			PersistTimeout: o.PersistTimeout, RecoveryTimeout: o.RecoveryTimeout, StashCapacity: o.StashCapacity,
			OnceKeys: o.OnceKeys, OnceFor: o.OnceFor,
			signals: o.OnSignal != nil,
		},
		id: id, journal: j, takes: reflect.TypeFor[M](), keeps: reflect.TypeFor[S](),
		check: func(c any) { valueOf(c, initial) },
		onCommand: func(ctx actorContext, c any, revision uint64, cmd any) *plan {
			return planOf(onCommand(ctx.(*actor.Context[M]), State[S]{valueOf(c, initial), revision}, as[M](cmd)))
		},
		onSignal: func(ctx actorContext, c any, revision uint64, sig Signal) *plan {
			return planOf(o.OnSignal(ctx.(*actor.Context[M]), State[S]{valueOf(c, initial), revision}, sig))
		},
		tags: func(c any) []string {
			if value, ok := c.(S); ok && o.Tags != nil {
				return o.Tags(value)
			}
			return nil // the journal gives a deletion the tags of what it deletes
		},
	}
	if err := errors.Join(err, d.complete(onCommand != nil)); err != nil {
		panic(fmt.Sprintf("persistence: durable state behavior %q: %v", id, err))
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		started, ended := d.begin(ctx)
		ctx.Defer(ended)
		start(started, ctx, next)
	}
}

// valueOf returns the value of c: the zero value for nil, which is rejected later. It panics if
// Persist got a value of another type.
func valueOf[S any](c any, initial S) (v S) {
	switch c.(type) {
	case Deleted:
		return initial
	case nil:
		return v
	}
	return c.(S)
}

// A durable has everything that all incarnations of a durable state actor have in common. Each
// incarnation is an event-sourced actor whose events are the changes of the state, and whose
// journal presents the last record as a snapshot.
type durable struct {
	settings
	id      string
	journal Journal
	takes   reflect.Type // the commands
	keeps   reflect.Type // the values

	// The functions of the user; c is a StateChange.
	check     func(c any) // panics unless c is one
	onCommand func(ctx actorContext, c any, revision uint64, cmd any) *plan
	onSignal  func(ctx actorContext, c any, revision uint64, sig Signal) *plan
	tags      func(c any) []string
}

// complete checks the arguments, and sets the fields that follow from them. onCommand tells whether
// there is such a function.
func (d *durable) complete(onCommand bool) error {
	switch {
	case d.journal == nil:
		return errNoJournal
	case !onCommand:
		return errNoCommandHandler
	}
	if err := checkRegistered(d.keeps); err != nil {
		return fmt.Errorf("state %w", err)
	}
	checked, err := d.on(&stateJournal{Journal: d.journal})
	if err == nil {
		d.settings = checked.settings
	}
	return err
}

// begin returns what defines an incarnation, and what ends with it.
func (d *durable) begin(ctx actorContext) (_ *definition, end func()) {
	system := ctx.System()
	j := newStateJournal(ctx, d.journal, d.PersistTimeout, storeCaller{system: system, id: d.id, log: ctx.Log().With(zap.String("id", d.id))})
	j.check = func(r *journal.Record) error { return checkState(system, d.keeps, r) }
	definition, err := d.on(j)
	if err != nil {
		panic(err) // complete has checked it
	}
	return definition, j.tasks.Wait
}

func (d *durable) on(j *stateJournal) (*definition, error) {
	e := &definition{settings: d.settings, user: &changes{d, j}, id: d.id, journal: j, verify: true}
	return e, e.complete(true, true)
}

// changes implements handlers for one incarnation of a durable state actor.
type changes struct {
	of     *durable
	stored *stateJournal
}

var typeOfChange = reflect.TypeFor[any]()

func (c *changes) types() types { return types{c.of.takes, typeOfChange, typeOfChange} }

func (c *changes) begin(snapshot any) states {
	if snapshot == nil {
		snapshot = Deleted{}
	}
	return &statesOf[any]{snapshot, snapshot}
}

func (c *changes) command(at states, ctx actorContext, cmd any) *plan {
	return c.of.onCommand(ctx, c.value(at), c.stored.revision.Load(), cmd)
}

func (c *changes) signal(at states, ctx actorContext, sig Signal) *plan {
	return c.of.onSignal(ctx, c.value(at), c.stored.revision.Load(), sig)
}

func (c *changes) add(at states, a addition) addition {
	c.of.check(a.event)
	at.(*statesOf[any]).next = a.event
	a.stored, a.tags = a.event, c.of.tags(a.event)
	return a
}

func (c *changes) commit(at states) {
	s := at.(*statesOf[any])
	s.now = s.next
}

func (c *changes) replay(at states, event any) { at.(*statesOf[any]).next = event }

// adapt is not called, because the actor has no FromJournal.
func (c *changes) adapt(states, StoredEvent, func(any)) error { return nil }

func (c *changes) value(at states) any { return at.(*statesOf[any]).now }

// checkState returns [ErrNotState] unless r can be the state of an actor whose state is a t.
func checkState(s *actor.System, t reflect.Type, r *journal.Record) error {
	if r.Meta[metaKind] != kindState {
		return fmt.Errorf("%w: the last record, %d, is an event of type %q; take an id that no event-sourced actor has used", ErrNotState, r.Seq, r.Type)
	}
	if r.Type == typeDeleted {
		return nil
	}
	if _, err := unpack(s, t, r.Type, r.Payload); err != nil {
		return fmt.Errorf("state %d: %w", r.Seq, err)
	}
	return nil
}
