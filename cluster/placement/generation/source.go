// Package generation is where the generations of singletons that a placement coordinator
// manages come from, and where what singletons there are is kept.
//
// A source is the single point that decides who owns a singleton: terms that it has handed
// out are never handed out again, whoever asks, so that of two owners the later one has
// the higher generation. All nodes must share it. [NewMemory] is for tests, and for nodes of
// one process; [NewJournal] keeps everything in a journal;
// cluster/placement/generation/postgres in a table. The laws are in package
// generationtest, for sources of your own as well.
package generation

import (
	"context"
	"errors"

	"github.com/understudy-go/understudy/singleton"
)

// A Generation is {term, seq}, ordered by term first: see [singleton.Generation].
type Generation = singleton.Generation

var (
	// ErrNeverClaimed is returned by ClaimSeq for a label that no term has been claimed for,
	// or that has been forgotten since.
	ErrNeverClaimed = errors.New("generation: never claimed")

	// ErrOverflow is returned when the next generation would not fit into 64 bits.
	ErrOverflow = singleton.ErrGenerationOverflow
)

// An Ownership says who was granted a singleton last.
type Ownership struct {
	Owner      string // the name of a node
	Generation Generation
}

// A Record is what a source knows of a singleton.
type Record struct {
	Label     string    // of the singleton
	Spec      []byte    // as it was stored; sources do not look into it
	Ownership Ownership // the zero Ownership if no term has been claimed
}

// A Source hands out generations. Its methods may be called from any goroutine, and from
// many nodes at once; each has happened at one moment, for all nodes, or has not. An
// error may leave open whether it has: a term or a number may be left out, and never comes
// again. When ctx ends they return its error soon.
type Source interface {
	// ClaimTerm makes owner the owner of the singleton, and returns the generation
	// {term, 0}: term is greater by one than the highest that was ever claimed for label,
	// the first is 1. Forgetting does not begin anew. It fails with [ErrOverflow] when terms
	// are used up.
	ClaimTerm(ctx context.Context, label, owner string) (Generation, error)

	// ClaimSeq returns the next generation of the same term. It fails with
	// [ErrNeverClaimed] and [ErrOverflow].
	ClaimSeq(ctx context.Context, label string) (Generation, error)

	// Current returns who was granted label last; false when nobody was, or it has been
	// forgotten.
	Current(ctx context.Context, label string) (Ownership, bool, error)

	// PutSpec keeps what is to run, in the place of what was kept before.
	PutSpec(ctx context.Context, label string, spec []byte) error

	// List returns the labels that have a spec, sorted.
	List(ctx context.Context) ([]Record, error)

	// Forget removes the spec and the owner. What is not there is forgotten already.
	Forget(ctx context.Context, label string) error
}
