package singleton

import (
	"context"

	"github.com/understudy-go/understudy/internal/generation"
	"github.com/understudy-go/understudy/internal/tenure"
)

// A Generation numbers the instances of a singleton: of any two instances, the later one has the
// greater generation. It is a fencing token. A store that rejects writes with a generation below
// the highest it has seen cannot be harmed by an instance that has been replaced and does not know
// it yet. Its fields are Term, which grows when an instance starts on another node, and Seq, which
// grows when one starts again in place. Less, String and Packed, a number for such a store, are its
// methods.
type Generation = generation.Generation

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
	return tenure.Of(ctx).Now()
}
