// Package tenure has what an instance is given by its owner, and reports to it: the generation
// under which it runs, and with that the bounds of the epochs that it may claim; what becomes of
// its claims; the timers that it leaves; and the observer of its state. Owners are the managers of
// singletons, placed actors, shards and test kits. Event sourcing reads the tenure from the context
// of an actor, so neither of them imports the other.
package tenure

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// A Tenure is a value in the context of an instance, which the actors that it spawns have, too. Its
// methods may be called by any goroutine, and of a nil Tenure, which limits and reports nothing.
type Tenure struct {
	path    string // of the instance
	started Generation
	on      Hooks

	mu      sync.Mutex // guards the fields below
	gen     Generation // which the journal of the instance may raise
	claimed bool       // the instance itself has claimed a persistence id
	refused Generation // the highest that a refused claim has found; zero if none was refused
	failure error      // because of the refused claim of an actor that the instance has spawned
}

// Hooks are what the owner of an instance does when something happens to it. Any goroutine may call
// the functions. They must not block.
type Hooks struct {
	// Claimed is called when the writes of the instance, or of an actor that it has spawned, are
	// fenced. by is zero if that is not by a claim. raised is the generation since, and started the
	// one before. It may be nil.
	Claimed func(by Claim, started, raised Generation)

	// Refused is called when an actor that the instance has spawned cannot claim its persistence id
	// because a later term has: the instance must be ended for that reason.
	Refused func(err error)

	// Quiet says that the first claim of the instance itself may be refused without a failure,
	// because its owner starts it again under a later term.
	Quiet bool

	// Waits is called when the journal keeps an actor from going on, or from starting. It is the
	// instance, or an actor that the instance has spawned. It may be nil.
	Waits func(path string, why error)

	// Left is called when an actor with a persistence id ends and leaves timers, of which the first
	// is due then. It may be nil.
	Left func(id string, due time.Time)
}

// New returns the tenure of the instance at path, as [actor.ActorRef.Path] returns it, under a
// generation.
func New(path string, gen Generation, on Hooks) *Tenure {
	return &Tenure{path: path, started: gen, gen: gen, on: on}
}

// With returns a context for the instance of t, to be given by extension.WithContext.
func With(ctx context.Context, t *Tenure) context.Context {
	return context.WithValue(ctx, actorhook.GenerationKey{}, t)
}

// Of returns the tenure of the actor with context ctx, or nil.
func Of(ctx context.Context) *Tenure {
	t, _ := ctx.Value(actorhook.GenerationKey{}).(*Tenure)
	return t
}

// Now returns the present generation, zero without one.
func (t *Tenure) Now() Generation {
	if t == nil {
		return Generation{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gen
}

// Generation implements actorhook.Generation, for the lines that the instance logs.
func (t *Tenure) Generation() fmt.Stringer { return t.Now() }

// IsOf reports whether path is the path of the instance itself.
func (t *Tenure) IsOf(path string) bool { return t != nil && t.path == path }

// Waits reports that the journal keeps the actor at path from going on.
func (t *Tenure) Waits(path string, why error) {
	if t != nil && t.on.Waits != nil {
		t.on.Waits(path, why)
	}
}

// LeftTimers reports that the actor with a persistence id has ended and left timers.
func (t *Tenure) LeftTimers(id string, due time.Time) {
	if t != nil && t.on.Left != nil {
		t.on.Left(id, due)
	}
}
