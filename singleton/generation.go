package singleton

import (
	"context"

	"github.com/understudy-go/understudy/internal/tenure"
)

// A Generation numbers the instances of a singleton: of any two instances, the later one has the
// greater generation. It is a fencing token. A store that rejects writes with a generation below
// the highest it has seen cannot be harmed by an instance that has been replaced and does not
// know it yet.
//
// Term grows each time the singleton starts on a node, after a move or a crash, usually by one.
// Seq grows each time the instance is restarted in place. In each term, the singletons of package
// placement start at 0, and those of package singleton at 1.
type Generation struct {
	Term uint64 // at most 2³²-1
	Seq  uint64 // at most 2³²-1
}

// Less reports whether g belongs to an earlier instance than h.
func (g Generation) Less(h Generation) bool { return tenure.Generation(g).Less(tenure.Generation(h)) }

// String returns the generation as "term.seq".
func (g Generation) String() string { return tenure.Generation(g).String() }

// Packed returns g as one number with the same order: the term in the upper 32 bits, the sequence
// number in the lower 32. It returns an error if either does not fit: check your own source or
// lease; otherwise use another name for the singleton.
func (g Generation) Packed() (uint64, error) { return tenure.Generation(g).Packed() }

// GenerationOf returns the generation of the instance whose context ctx is, or of the instance
// that spawned the actor of ctx. It returns the zero Generation elsewhere. The generation of an
// event-sourced instance may rise until its recovery has completed, if its journal knows a later
// one. A generation numbers the instances, and is the fencing token for what an instance writes to
// the outside.
//
// By default the members of the cluster agree on terms, so terms start again at 1 when all members
// have been stopped at once. There are three ways to let them grow for ever. With [WithLease] the
// lease's token is the term. With [WithGenerations] a journal counts the terms. An event-sourced
// instance claims its journal with its packed generation. If a later term has claimed the journal,
// the instance stops before it handles a message, and starts again under a term above that one: the
// factory is called twice. An event-sourced actor that the instance spawns claims its own id in the
// same way. If its claim is refused, the instance is ended and started again under a later term.
func GenerationOf(ctx context.Context) Generation {
	return Generation(tenure.Of(ctx).Now())
}
