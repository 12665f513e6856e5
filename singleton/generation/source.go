// Package generation defines the generations of singletons, which are their fencing tokens, and
// the [Source] that hands them out.
//
// This package is experimental: a minor release may change it.
//
// A source is the single authority on the owner of a singleton. It never hands out a term twice,
// whichever node asks and whatever is forgotten, so of two owners the later one has the higher
// generation. All nodes of a cluster must share one source. There is one implementation for each
// store:
//
//   - generations.NewJournal in persistence/generations keeps everything in a journal, beside the
//     events of the actors;
//   - generations.NewMemory is the same in memory, for tests and for clusters within one process;
//   - singleton/generation/postgres, a module of its own, uses a table in PostgreSQL.
//
// A store of singleton/lease/postgres is a [TermSource] as well: its terms are the tokens of its
// leases.
//
// Package generationtest has the contract as a test suite, for sources of your own as well.
package generation

import (
	"context"
	"errors"
)

// ErrNeverClaimed: the first term of the label of a [Source.ClaimSeq] has not been claimed, or it
// has been forgotten since. If the framework has called it, the store has lost data.
var ErrNeverClaimed = errors.New("generation: never claimed")

// An Ownership names the node that was granted a singleton last.
type Ownership struct {
	Owner      string // the owner as given to ClaimTerm, for example the name of a node
	Generation Generation
}

// A Record is what a source stores about a singleton.
type Record struct {
	Label     string    // of the singleton
	Spec      []byte    // as given to PutSpec; sources do not interpret it
	Ownership Ownership // the zero Ownership if no term has been claimed
}

// A TermSource hands out terms. It is the part of a [Source] that singleton.WithGenerations uses.
// Its method may be called from any goroutine, and from many nodes at once.
type TermSource interface {
	// ClaimTerm makes owner the owner of the singleton label and returns the generation
	// {term, 0}. The term is greater than floor and than every term ever returned for label, on
	// any node. A source whose terms count from 1 returns the lowest such term. ClaimTerm
	// returns [ErrOverflow] when no term up to 2³²-1 is left. After another error the claim may
	// have been stored or not: a term may be skipped, but is never returned twice. When ctx
	// ends, ClaimTerm returns its error soon.
	ClaimTerm(ctx context.Context, label, owner string, floor uint64) (Generation, error)
}

// A Source hands out generations, and stores the specs of singletons. Its methods may be called
// from any goroutine, and from many nodes at once. Each call is atomic: it takes effect at one
// moment, for all nodes, or not at all. An error may leave open which of the two happened. When
// ctx ends, every method returns its error soon.
type Source interface {
	// ClaimTerm is as described at TermSource: the term is the lowest that is greater than
	// floor and than every term ever claimed for label. Forget does not reset terms.
	TermSource

	// ClaimSeq returns the next generation of the current term. It returns [ErrNeverClaimed],
	// or [ErrOverflow] after 2³²-1.
	ClaimSeq(ctx context.Context, label string) (Generation, error)

	// Current returns the latest owner of label, and false if label has no owner or has been
	// forgotten.
	Current(ctx context.Context, label string) (Ownership, bool, error)

	// PutSpec stores the spec of a singleton and replaces the one stored before.
	PutSpec(ctx context.Context, label string, spec []byte) error

	// List returns the records of the labels that have a spec, sorted by label.
	List(ctx context.Context) ([]Record, error)

	// Forget removes the spec and the owner of label, if they exist.
	Forget(ctx context.Context, label string) error
}
