package persistence

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/nonblocking"
	"github.com/understudy-go/understudy/persistence/journal"
)

// New returns the behavior of an actor whose state is rebuilt from its events. It implements
// behaviors.EventSourced, which users call. The package documentation describes the life of the
// actor.
//
// The journal keeps the events under id. If two actors use one id, the newer one fences off the
// older one. Before the first event the state is initial. The function onCommand decides the effect
// of a command. The function onEvent applies one event to a state and returns the new state; it
// must not change its arguments.
//
// New panics if the id is malformed, a required argument is nil, the options are invalid or of
// other types, or there is more than one Options. It also panics if the type of events is neither
// registered nor an interface, or if snapshots are taken and the same is true of the type of the
// state.
func New[M, E, S any](
	id string, j Journal, initial S,
	onEvent func(state S, event E) S,
	onCommand func(ctx *actor.Context[M], state S, cmd M) Effect[E],
	opts ...Option,
) actor.Behavior[M] {
	o, err := merge[M, E, S](opts)
	d := &definition[M, E, S]{Options: o, id: id, journal: j, initial: initial, onEvent: onEvent, onCommand: onCommand}
	if err := errors.Join(err, d.complete()); err != nil {
		panic(fmt.Sprintf("persistence: event-sourced behavior %q: %v", id, err))
	}
	return d.behavior
}

// A definition has everything that all incarnations of an actor have in common.
type definition[M, E, S any] struct {
	Options[M, E, S]
	id          string
	journal     Journal
	store       journal.SnapshotStore // nil if the journal keeps no snapshots
	async       journal.AsyncJournal  // the journal, if it can append without waiting
	timerStore  journal.TimerStore    // the journal, if it keeps timers
	nonBlocking bool                  // appends need no separate goroutine, because the journal never blocks
	verify      bool                  // decode each record before it is stored
	initial     S
	onEvent     func(S, E) S
	onCommand   func(*actor.Context[M], S, M) Effect[E]
}

func (d *definition[M, E, S]) behavior(ctx *actor.Context[M], next *actor.Next[M]) {
	e := newEntity(d, ctx)
	ctx.Defer(e.end)
	e.begin(next)
}

var (
	errNoJournal        = errors.New("the journal is nil; open one with a package such as persistence/sqlite, or use memory.New() in tests")
	errNoCommandHandler = errors.New("the command handler is nil; give it a function that returns the effect of a command")
)

// complete checks the arguments, and sets the fields that follow from them.
func (d *definition[M, E, S]) complete() (err error) {
	if err := journal.ValidateID(d.id); err != nil {
		return err
	}
	switch {
	case d.journal == nil:
		return errNoJournal
	case d.onEvent == nil:
		return errors.New("the event handler is nil; give it a function that returns the state after an event")
	case d.onCommand == nil:
		return errNoCommandHandler
	}
	if d.Options, err = d.withDefaults(); err != nil {
		return err
	}
	if d.ToJournal == nil { // otherwise ToJournal determines the stored type
		if err := checkRegistered[E](); err != nil {
			return fmt.Errorf("event %w", err)
		}
	}
	d.store, _ = journal.As[journal.SnapshotStore](d.journal)
	d.async = asyncOf(d.journal)
	d.timerStore, _ = journal.As[journal.TimerStore](d.journal)
	d.nonBlocking = neverBlocks(d.journal)
	return d.checkSnapshots()
}

// neverBlocks reports whether calls of j never block.
func neverBlocks(j Journal) bool {
	if s, ok := j.(*stateJournal); ok {
		j = s.Journal
	}
	return nonblocking.Is(j)
}

// asyncOf returns j if its appends need not wait, else nil.
func asyncOf(j Journal) journal.AsyncJournal {
	if s, ok := j.(*stateJournal); ok && asyncOf(s.Journal) == nil {
		return nil
	}
	async, _ := journal.As[journal.AsyncJournal](j)
	return async
}

func (d *definition[M, E, S]) checkSnapshots() error {
	if !d.snapshots() {
		return nil
	}
	option := "SnapshotEvery"
	if d.SnapshotEvery == 0 {
		option = "SnapshotWhen"
	}
	if d.store == nil {
		return fmt.Errorf("%s: the journal %T is not a SnapshotStore; leave the option out or take another journal", option, d.journal)
	}
	if err := checkRegistered[S](); err != nil {
		return fmt.Errorf("%s: state %w", option, err)
	}
	return nil
}

// checkRegistered returns an error if no value of type T can be stored. The values of an interface
// type are checked when they are stored.
func checkRegistered[T any]() error {
	t := reflect.TypeFor[T]()
	if _, ok := codec.NameOf(t); ok || t.Kind() == reflect.Interface {
		return nil
	}
	return &codec.UnregisteredError{Type: t}
}
