// Package generation has the generations of singletons, which are their fencing tokens. Package
// singleton shows them to users.
package generation

import (
	"errors"
	"fmt"
	"math"
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
func (g Generation) Less(h Generation) bool {
	return g.Term < h.Term || g.Term == h.Term && g.Seq < h.Seq
}

// String returns the generation as "term.seq".
func (g Generation) String() string { return fmt.Sprintf("%d.%d", g.Term, g.Seq) }

// Packed returns g as one number with the same order: the term in the upper 32 bits, the sequence
// number in the lower 32. It returns [ErrOverflow] if either does not fit.
func (g Generation) Packed() (uint64, error) {
	if g.Term > math.MaxUint32 || g.Seq > math.MaxUint32 {
		return 0, fmt.Errorf("%w: %v", ErrOverflow, g)
	}
	return g.Term<<32 | g.Seq, nil
}

// Unpack is the inverse of [Generation.Packed].
func Unpack(packed uint64) Generation {
	return Generation{Term: packed >> 32, Seq: packed & math.MaxUint32}
}

// ErrOverflow: a term or sequence number does not fit into 32 bits. Check your own source or lease;
// otherwise use another name for the singleton.
var ErrOverflow = errors.New("generation: does not fit into 64 bits")
