// Package inspect is for looking at what an event-sourced actor has stored, without running it: a
// package that starts such actors registers a [Looker], and package persistence answers a [Look].
package inspect

import (
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

// Run returns what an actor has stored. spawn starts the actor under that name, with the context
// of the options, and with a behavior that stops once it has begun.
func Run(ctx context.Context, s *actor.System, q Query, spawn func(name string, with context.Context) actor.AnyRef) (Found, error) {
	type answer struct {
		found Found
		err   error
	}
	answers := make(chan answer, 1)
	name := fmt.Sprint("look-", extension.NextNumber(s))
	look := &Look{Query: q, path: "/user/" + name, answer: func(f Found, err error) { answers <- answer{f, err} }}
	ended := make(chan struct{})
	ref := spawn(name, context.WithValue(ctx, lookKey{}, look))
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
		return Found{Compared: look.compared}, ErrNotSourced
	}
}

// A Looker finds what the actor with an id has stored.
type Looker func(ctx context.Context, id string, q Query) (Found, error)

type lookers struct {
	mu     sync.Mutex // guards byType
	byType map[string]Looker
}

func of(s *actor.System) *lookers {
	return extension.Ensure(s, func() *lookers { return &lookers{byType: map[string]Looker{}} })
}

// Register makes the actors of a type known.
func Register(s *actor.System, typ string, l Looker) {
	all := of(s)
	all.mu.Lock()
	defer all.mu.Unlock()
	all.byType[typ] = l
}

// Find returns the looker of a type, or nil and the types that there are.
func Find(s *actor.System, typ string) (Looker, []string) {
	all := of(s)
	all.mu.Lock()
	defer all.mu.Unlock()
	if l := all.byType[typ]; l != nil {
		return l, nil
	}
	return nil, slices.Sorted(maps.Keys(all.byType))
}
