package persistence

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
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
	t := &typed[M, E, S]{
		initial: initial, onEvent: onEvent, onCommand: onCommand, onSignal: o.OnSignal,
		tags: o.Tags, toJournal: o.ToJournal, fromJournal: o.FromJournal, snapshotWhen: o.SnapshotWhen,
	}
	t.def = definition{settings: settingsOf(&o), user: t, id: id, journal: j, onEvent: onEvent, onCommand: onCommand}
	if err := errors.Join(err, t.def.complete(onEvent != nil, onCommand != nil)); err != nil {
		panic(fmt.Sprintf("persistence: event-sourced behavior %q: %v", id, err))
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) { start(&t.def, ctx, next) }
}

func start[M any](d *definition, ctx *actor.Context[M], next *actor.Next[M]) {
	e := newEntity(d, ctx, ctx.Self())
	e.wake = ctx.Notify(func() actor.Behavior[M] { return become[M](e.awake()) })
	if d.async != nil {
		pause := extension.NewPause(ctx, func() actor.Behavior[M] { return become[M](e.afterPause()) })
		e.pausing = newPausingWriter(d.async, e.calls, d.PersistTimeout, pause)
	}
	extension.Holds(ctx, taken(e))
	ctx.Defer(func() { e.end((*mailboxOf[M])(ctx)) })
	o, recovered := e.begin()
	if recovered {
		next.OnMessage = func(ctx *actor.Context[M], cmd M) actor.Behavior[M] {
			return become[M](e.receive(ctx, cmd, extension.MetadataOf(ctx)))
		}
		next.OnSignal = func(_ *actor.Context[M], sig actor.Signal) actor.Behavior[M] { return become[M](e.lifeSignal(sig)) }
	}
	o.tell(next)
}

// become returns the behavior by which an actor does what o says; nil if it goes on as it is.
func become[M any](o outcome) actor.Behavior[M] {
	if o.goesOn() {
		return nil
	}
	return func(_ *actor.Context[M], next *actor.Next[M]) { o.tell(next) }
}

// An outcome is what an actor does after it has handled something. The zero outcome: it goes on.
type outcome struct {
	stop      bool
	unhandled bool
	err       error // with which it fails, unless nil
}

func (o outcome) goesOn() bool { return !o.stop && !o.unhandled && o.err == nil }

func (o outcome) tell(next interface {
	Stop()
	Unhandled()
	Fail(err error)
},
) {
	switch {
	case o.err != nil:
		next.Fail(o.err)
	case o.stop:
		next.Stop()
	case o.unhandled:
		next.Unhandled()
	}
}

// A definition has everything that all incarnations of an actor have in common.
type definition struct {
	settings
	user        handlers
	id          string
	journal     Journal
	store       journal.SnapshotStore // nil if the journal keeps no snapshots
	async       journal.AsyncJournal  // the journal, if it can append without waiting
	timerStore  journal.TimerStore    // the journal, if it keeps timers
	nonBlocking bool                  // appends need no separate goroutine, because the journal never blocks
	verify      bool                  // decode each record before it is stored

	onEvent, onCommand any // the functions of the user, for an observer
}

var (
	errNoJournal        = errors.New("the journal is nil; open one with a package such as persistence/sqlite, or use journal.NewMemory() in tests")
	errNoCommandHandler = errors.New("the command handler is nil; give it a function that returns the effect of a command")
)

// complete checks the arguments, and sets the fields that follow from them. onEvent and onCommand
// tell whether there are such functions.
func (d *definition) complete(onEvent, onCommand bool) (err error) {
	if err := journal.ValidateID(d.id); err != nil {
		return err
	}
	switch {
	case d.journal == nil:
		return errNoJournal
	case !onEvent:
		return errors.New("the event handler is nil; give it a function that returns the state after an event")
	case !onCommand:
		return errNoCommandHandler
	}
	if d.settings, err = completed(d.settings); err != nil {
		return err
	}
	if !d.maps { // otherwise ToJournal determines the stored type
		if err := checkRegistered(d.user.types().event); err != nil {
			return fmt.Errorf("event %w", err)
		}
	}
	d.store, _ = journal.As[journal.SnapshotStore](d.journal)
	d.async = asyncOf(d.journal)
	d.timerStore, _ = journal.As[journal.TimerStore](d.journal)
	d.nonBlocking = neverBlocks(d.journal)
	return d.checkSnapshots()
}

func neverBlocks(j Journal) bool {
	if s, ok := j.(*stateJournal); ok {
		j = s.Journal
	}
	return nonblocking.Is(j)
}

func asyncOf(j Journal) journal.AsyncJournal {
	if s, ok := j.(*stateJournal); ok && asyncOf(s.Journal) == nil {
		return nil
	}
	async, _ := journal.As[journal.AsyncJournal](j)
	return async
}

func (d *definition) checkSnapshots() error {
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
	if err := checkRegistered(d.user.types().state); err != nil {
		return fmt.Errorf("%s: state %w", option, err)
	}
	return nil
}

// checkRegistered returns an error if no value of type t can be stored. The values of an interface
// type are checked when they are stored.
func checkRegistered(t reflect.Type) error {
	if _, ok := codec.NameOf(t); ok || t.Kind() == reflect.Interface {
		return nil
	}
	return &codec.UnregisteredError{Type: t}
}
