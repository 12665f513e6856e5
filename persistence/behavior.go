package persistence

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/prompt"
	"github.com/understudy-go/understudy/persistence/journal"
)

// New returns the behavior of an actor whose state is what its events have made of it.
// Users write it behaviors.EventSourced. The documentation of the package says how such
// an actor lives.
//
// The journal keeps the events under id, which no other actor that lives at the same
// time should use: the newer one fences off the older. initial is the state before the
// first event. onCommand says what a command leads to; it runs inside the actor. onEvent
// returns what an event makes of a state, and must leave the one that it is given as it is.
//
// New panics when it cannot work: a malformed id, something nil, options that do not fit,
// and an event type or, with snapshots, a state type that is not registered, unless it is
// an interface.
func New[M, E, S any](
	id string, journal Journal, initial S,
	onEvent func(state S, event E) S,
	onCommand func(ctx *actor.Context[M], state S, cmd M) Effect[E],
	opts ...Option,
) actor.Behavior[M] {
	d := &definition[M, E, S]{id: id, journal: journal, initial: initial, onEvent: onEvent, onCommand: onCommand}
	if err := d.complete(opts); err != nil {
		panic(fmt.Sprintf("persistence: event-sourced behavior %q: %v", id, err))
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		e := newEntity(d, ctx)
		ctx.Defer(e.end)
		e.begin(next)
	}
}

// A definition is what all incarnations of an actor have in common.
type definition[M, E, S any] struct {
	config
	id        string
	journal   Journal
	store     journal.SnapshotStore // nil when the journal is none
	prompt    bool                  // appends need no goroutine, as the journal never blocks
	initial   S
	onEvent   func(S, E) S
	onCommand func(*actor.Context[M], S, M) Effect[E]

	// those of config with their types; each may be nil
	onSignal     func(*actor.Context[M], S, Signal) Effect[E]
	tags         func(S, E) []string
	toJournal    func(E) (any, int)
	fromJournal  func(StoredEvent) ([]E, error)
	snapshotWhen func(S, E, uint64) bool
}

// complete fills in what follows from the options, and checks that all is there.
func (d *definition[M, E, S]) complete(opts []Option) (err error) {
	if err := journal.ValidateID(d.id); err != nil {
		return err
	}
	if d.journal == nil || d.onEvent == nil || d.onCommand == nil {
		return fmt.Errorf("journal, event handler and command handler must not be nil")
	}
	if d.config, err = newConfig(opts); err != nil {
		return err
	}
	if err := d.completeTypes(); err != nil {
		return err
	}
	d.store, _ = journal.As[journal.SnapshotStore](d.journal)
	d.prompt = isPrompt(d.journal)
	return d.checkSnapshots()
}

// completeTypes gives what the options have been given its types.
func (d *definition[M, E, S]) completeTypes() error {
	if f, ok := d.tagger.(func(E) []string); ok {
		d.tagger = func(_ S, event E) []string { return f(event) }
	}
	if err := errors.Join(
		typed("OnSignal", d.signalHandler, &d.onSignal),
		typed("Tagged or TaggedByState", d.tagger, &d.tags),
		typed("ToJournal", d.config.toJournal, &d.toJournal),
		typed("FromJournal", d.config.fromJournal, &d.fromJournal),
		typed("SnapshotWhen", d.config.snapshotWhen, &d.snapshotWhen),
	); err != nil {
		return err
	}
	if d.toJournal != nil {
		return nil // it says what is stored
	}
	if err := checkRegistered[E](); err != nil {
		return fmt.Errorf("event %w", err)
	}
	return nil
}

// isPrompt reports whether j answers at once.
func isPrompt(j Journal) bool {
	if s, ok := j.(*stateJournal); ok {
		j = s.Journal
	}
	return prompt.Is(j)
}

// typed puts given, what an option has, into f, whose type it should have.
func typed[F any](option string, given any, f *F) error {
	var ok bool
	if *f, ok = given.(F); given != nil && !ok {
		return fmt.Errorf("%s has a %T, while this behavior takes a %v", option, given, reflect.TypeFor[F]())
	}
	return nil
}

func (d *definition[M, E, S]) checkSnapshots() error {
	if d.retention == nil {
		return nil
	}
	if d.store == nil {
		return fmt.Errorf("%s: the journal %T is not a SnapshotStore; leave the option out or take another journal", d.retention.by(), d.journal)
	}
	if err := checkRegistered[S](); err != nil {
		return fmt.Errorf("%s: state %w", d.retention.by(), err)
	}
	return nil
}

// checkRegistered fails when no value of type T could be stored. What is behind an
// interface shows only when there is a value.
func checkRegistered[T any]() error {
	t := reflect.TypeFor[T]()
	if _, ok := codec.NameOf(t); ok || t.Kind() == reflect.Interface {
		return nil
	}
	return &codec.UnregisteredError{Type: t}
}
