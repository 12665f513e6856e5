// Package inspect is for looking at what an event-sourced actor has stored, without running it: a
// package that starts such actors registers a [Looker], and package persistence answers a [Look].
package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// A Query says what of an actor is to be found. The zero Query asks for the present state.
type Query struct {
	At     uint64    // the state after this event; 0 for the last one
	Until  time.Time // only what was stored up to then; zero for everything
	Events int       // how many of the last events to list

	NoSnapshots bool // from the events alone

	Trial *Trial // tries everything that is stored, in place of all above; nil if it is not wanted
}

// Found is what an actor has stored.
type Found struct {
	ID       string    // its persistence id
	Seq      uint64    // of the last event in the state
	Time     time.Time // when that was stored, by the clock of its writer; zero if a snapshot has the state
	State    any
	Shredded uint64 // how many events were left out because their keys were destroyed
	Events   []Event
	Compared map[string]string // settings that members of a cluster compare, if it is a singleton
}

// An Event is one of the last events.
type Event struct {
	Seq      uint64
	Time     time.Time
	Type     string // its registered name
	Event    any
	Shredded bool   // there is no Event
	Error    string // why there is no Event; "" if there is one
}

// A Look is a query to one actor. The actor answers it in place of starting.
type Look struct {
	Query

	path     string
	answer   func(Found, error)
	compared map[string]string
}

// Compares notes the settings of a singleton that members of a cluster compare.
func (l *Look) Compares(settings map[string]string) { l.compared = settings }

type lookKey struct{}

// Of returns the look at the actor with that path and context, or nil.
func Of(ctx context.Context, path string) *Look {
	if l, ok := ctx.Value(lookKey{}).(*Look); ok && strings.HasSuffix(path, l.path) {
		return l
	}
	return nil
}

// Answer answers the look.
func (l *Look) Answer(f Found, err error) { l.answer(f, err) }

// ErrNotSourced means that the actor is not event-sourced, so nothing of it is stored.
var ErrNotSourced = errors.New("it is neither event-sourced nor a durable state, so nothing of it is stored")

// A Spawn starts the actor that answers a look as a child of parent, under that name and with
// that context, and with a behavior that stops once it has begun.
type Spawn func(parent actor.Spawner, name string, with context.Context) actor.AnyRef

// Run returns what an actor has stored.
func Run(ctx context.Context, s *actor.System, q Query, spawn Spawn) (Found, error) {
	type answer struct {
		found Found
		err   error
	}
	answers := make(chan answer, 1)
	name := fmt.Sprint("look-", extension.NextNumber(s))
	look := &Look{Query: q, path: "/user/" + name + "/" + looked, answer: func(f Found, err error) { answers <- answer{f, err} }}
	ended := make(chan struct{})
	var failure error // written before the end
	ref := actor.Spawn(s, watching(func(parent actor.Spawner) actor.AnyRef {
		return spawn(parent, looked, context.WithValue(ctx, lookKey{}, look))
	}, func(err error) { failure = err }), name)
	defer extension.AfterEnd(s, ref, sync.OnceFunc(func() { close(ended) }))()
	select {
	case <-ended:
	case <-ctx.Done():
		return Found{}, ctx.Err()
	}
	select {
	case a := <-answers:
		a.found.Compared = look.compared
		return a.found, a.err
	default:
	}
	if failure != nil {
		return Found{}, fmt.Errorf("what makes the actor has failed before it came to what is stored: %w", failure)
	}
	return Found{Compared: look.compared}, ErrNotSourced
}

const looked = "actor"

// watching ends with the actor that spawn starts. It calls failed first, if that has failed.
func watching(spawn func(parent actor.Spawner) actor.AnyRef, failed func(error)) actor.Behavior[struct{}] {
	return func(ctx *actor.Context[struct{}], next *actor.Next[struct{}]) {
		ctx.Watch(spawn(ctx))
		next.OnMessage = func(*actor.Context[struct{}], struct{}) actor.Behavior[struct{}] { return nil } // without a handler it would end
		next.OnSignal = func(_ *actor.Context[struct{}], sig actor.Signal) actor.Behavior[struct{}] {
			if f, is := sig.(actor.ChildFailed); is {
				failed(f.Err)
			}
			return func(_ *actor.Context[struct{}], next *actor.Next[struct{}]) { next.Stop() }
		}
	}
}

// A Looker finds what the actor with an id has stored.
type Looker func(ctx context.Context, id string, q Query) (Found, error)

// SingletonType is the type of each singleton for [Find]; its id is its name. A type of entities
// of that name hides them.
const SingletonType = "singleton"

type lookers struct {
	mu         sync.Mutex // guards all below
	byType     map[string]Looker
	singletons map[string]Looker // by name
}

func of(s *actor.System) *lookers {
	return extension.Ensure(s, func() *lookers { return &lookers{byType: map[string]Looker{}, singletons: map[string]Looker{}} })
}

// Register makes the actors of a type known.
func Register(s *actor.System, typ string, l Looker) {
	all := of(s)
	all.mu.Lock()
	defer all.mu.Unlock()
	all.byType[typ] = l
}

// RegisterSingleton makes a singleton known until forget is called.
func RegisterSingleton(s *actor.System, name string, spawn Spawn) (forget func()) {
	all := of(s)
	all.mu.Lock()
	defer all.mu.Unlock()
	all.singletons[name] = func(ctx context.Context, _ string, q Query) (Found, error) { return Run(ctx, s, q, spawn) }
	return func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		delete(all.singletons, name)
	}
}

// ErrNoSingleton means that the node has not spawned a singleton of that name.
var ErrNoSingleton = errors.New("no such singleton")

func (l *lookers) singleton(ctx context.Context, name string, q Query) (Found, error) {
	l.mu.Lock()
	look, known := l.singletons[name], slices.Sorted(maps.Keys(l.singletons))
	l.mu.Unlock()
	if look == nil {
		return Found{}, fmt.Errorf("%w: this node has spawned no singleton %q, but %s", ErrNoSingleton, name, cmp.Or(strings.Join(known, ", "), "none"))
	}
	return look(ctx, name, q)
}

// Find returns the looker of a type, or nil and the types that there are.
func Find(s *actor.System, typ string) (Looker, []string) {
	all := of(s)
	all.mu.Lock()
	defer all.mu.Unlock()
	if l := all.byType[typ]; l != nil {
		return l, nil
	}
	if typ == SingletonType {
		return all.singleton, nil
	}
	return nil, slices.Sorted(maps.Keys(all.byType))
}
