package tenure

import (
	"errors"
	"fmt"
	"math"
)

// A Generation is a [singleton.Generation], which documents it, below package singleton.
type Generation struct {
	Term, Seq uint64
}

// Less reports whether g belongs to an earlier instance than h.
func (g Generation) Less(h Generation) bool {
	return g.Term < h.Term || g.Term == h.Term && g.Seq < h.Seq
}

// String returns "term.seq".
func (g Generation) String() string { return fmt.Sprintf("%d.%d", g.Term, g.Seq) }

// Packed returns [ErrOverflow] if the term or the sequence number does not fit.
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
