package singleton

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// A Generation numbers the instances of a singleton: of any two, the later has the
// greater one. It is the fencing token for what an instance does to the outside: a
// store that refuses generations below the highest it has seen cannot be harmed by an
// instance that has been replaced and does not know yet.
//
// Term grows whenever the singleton starts on a node, after a move or a crash, seldom by
// more than one; Seq when it is restarted in place. Terms are agreed by the members of
// the cluster, so by themselves they begin again when all of them have been stopped at
// once. Those of an event-sourced instance do not: it claims its events by the packed
// generation, and when its journal has a later epoch, that is its generation. With
// [WithLease] the lease's token is the term, with [WithGenerations] what the source says.
type Generation struct {
	Term uint64
	Seq  uint64
}

// ErrGenerationOverflow is the error of a generation that does not fit into 64 bits.
var ErrGenerationOverflow = errors.New("singleton: generation does not fit into 64 bits")

// Less reports whether g is of an earlier instance than h.
func (g Generation) Less(h Generation) bool {
	return g.Term < h.Term || g.Term == h.Term && g.Seq < h.Seq
}

// String returns the generation as "term.seq".
func (g Generation) String() string { return fmt.Sprintf("%d.%d", g.Term, g.Seq) }

// Packed returns g as one number, of the same order: the term in the upper 32 bits, the
// sequence number in the lower. It fails with [ErrGenerationOverflow] rather than wrap.
func (g Generation) Packed() (uint64, error) {
	if g.Term > math.MaxUint32 || g.Seq > math.MaxUint32 {
		return 0, fmt.Errorf("%w: %v", ErrGenerationOverflow, g)
	}
	return g.Term<<32 | g.Seq, nil
}

// Unpack is the inverse of [Generation.Packed].
func Unpack(packed uint64) Generation {
	return Generation{Term: packed >> 32, Seq: packed & math.MaxUint32}
}

type generationKey struct{}

// GenerationOf returns the generation of the instance whose context ctx is, or that of
// the instance that spawned it; the zero Generation elsewhere. That of an event-sourced
// instance may rise until it has recovered, when its journal knows a later one.
func GenerationOf(ctx context.Context) Generation {
	if h, ok := ctx.Value(generationKey{}).(*holding); ok {
		return h.now()
	}
	return Generation{}
}
