package persistence

import (
	"errors"
	"fmt"

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

// typeDeleted is the registered name of [Deleted].
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
	d := &durable[M, S]{StateOptions: o, id: id, journal: j, initial: initial, onCommand: onCommand}
	if err := errors.Join(err, d.complete()); err != nil {
		panic(fmt.Sprintf("persistence: durable state behavior %q: %v", id, err))
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		system := ctx.System()
		j := newStateJournal(ctx, j, d.PersistTimeout, storeCaller{system, id, ctx.Log().With(zap.String("id", id))})
		j.check = func(r *journal.Record) error { return checkState[S](system, r) }
		ctx.Defer(j.tasks.Wait)
		definition, err := d.on(j)
		if err != nil {
			panic(err) // complete has checked it
		}
		definition.behavior(ctx, next)
	}
}

// A durable has everything that all incarnations of a durable state actor have in common. Each
// incarnation is an event-sourced actor whose journal presents the last record as a snapshot.
type durable[M, S any] struct {
	StateOptions[M, S]
	id        string
	journal   Journal
	initial   S
	onCommand func(*actor.Context[M], State[S], M) StateEffect[S]
}

// complete checks the arguments, and sets the fields that follow from them.
func (d *durable[M, S]) complete() error {
	switch {
	case d.journal == nil:
		return errNoJournal
	case d.onCommand == nil:
		return errNoCommandHandler
	}
	if err := checkRegistered[S](); err != nil {
		return fmt.Errorf("state %w", err)
	}
	checked, err := d.on(&stateJournal{Journal: d.journal})
	if err == nil {
		d.PersistTimeout = checked.PersistTimeout
	}
	return err
}

// on returns the event-sourced actor on j whose events are the changes of the state.
func (d *durable[M, S]) on(j *stateJournal) (*definition[M, StateChange[S], StateChange[S]], error) {
	state := func(c StateChange[S]) State[S] { return State[S]{Value: d.value(c), Revision: j.revision.Load()} }
	e := &definition[M, StateChange[S], StateChange[S]]{
		id: d.id, journal: j, initial: Deleted{}, verify: true,
		onEvent: func(_, change StateChange[S]) StateChange[S] {
			d.value(change)
			return change
		},
		onCommand: func(ctx *actor.Context[M], c StateChange[S], cmd M) StateEffect[S] {
			return d.onCommand(ctx, state(c), cmd)
		},
	}
	e.PassivateAfter, e.OnPersistFailure, e.StashCapacity = d.PassivateAfter, d.OnPersistFailure, d.StashCapacity
	e.PersistTimeout, e.RecoveryTimeout = d.PersistTimeout, d.RecoveryTimeout
	if d.OnSignal != nil {
		e.OnSignal = func(ctx *actor.Context[M], c StateChange[S], sig Signal) StateEffect[S] {
			return d.OnSignal(ctx, state(c), sig)
		}
	}
	if d.Tags != nil {
		e.Tags = func(_, change StateChange[S]) []string {
			if value, ok := change.(S); ok {
				return d.Tags(value)
			}
			return nil // the journal gives a deletion the tags of what it deletes
		}
	}
	return e, e.complete()
}

// value returns the value of c: the zero value for nil, which is rejected later. It panics if
// Persist got a value of another type.
func (d *durable[M, S]) value(c StateChange[S]) (v S) {
	switch c.(type) {
	case Deleted:
		return d.initial
	case nil:
		return v
	}
	return c.(S)
}

// checkState returns [ErrNotState] unless r can be the state of an actor of this type.
func checkState[S any](s *actor.System, r *journal.Record) error {
	if r.Meta[metaKind] != kindState {
		return fmt.Errorf("%w: the last record, %d, is an event of type %q; take an id that no event-sourced actor has used", ErrNotState, r.Seq, r.Type)
	}
	if r.Type == typeDeleted {
		return nil
	}
	if _, err := unpack[S](s, r.Type, r.Payload); err != nil {
		return fmt.Errorf("state %d: %w", r.Seq, err)
	}
	return nil
}
