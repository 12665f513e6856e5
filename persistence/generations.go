package persistence

import (
	"context"
	"crypto/rand"
	"fmt"
)

// Generations returns the generations that a journal can hand out to singletons: give it
// to singleton.WithGenerations. Use it for a singleton that is not event-sourced but
// writes to something that refuses lower generations: they keep growing when all nodes
// have been stopped, as long as the journal is kept. An event-sourced one needs none, as
// its own claims do that.
//
// All nodes must share the journal, or the file that it opens. It panics when j is nil.
func Generations(j Journal) *GenerationSource {
	if j == nil {
		panic("persistence: generations of a journal that is nil")
	}
	s := &GenerationSource{journal: j}
	_, _ = rand.Read(s.writer[:]) // never fails
	return s
}

// A GenerationSource hands out terms for singletons by claims in a journal; it is a
// singleton.GenerationSource. Make one with [Generations]. Its methods may be called from
// any goroutine.
type GenerationSource struct {
	journal Journal
	writer  WriterID
}

// NextTerm returns the epoch of a new claim of the persistence id "singleton/" and name,
// which nothing else may use: it is greater than floor, and than every one before. It
// fails as the journal does: with [ErrUnavailable] and [ErrUnknown] a term may have been
// left out. With [ErrInvalid] there is no help: name is too long for a persistence id, the
// terms are used up, or floor is beyond the next epoch of a journal that is no
// [FloorClaimer].
func (s *GenerationSource) NextTerm(ctx context.Context, name string, floor uint64) (term uint64, err error) {
	id := "singleton/" + name
	if _, err := NextEpoch(floor, 0); err != nil {
		return 0, fmt.Errorf("next term of %q: %w", name, err)
	}
	claim, err := claimAtLeast(ctx, s.journal, id, s.writer, floor+1)
	if err != nil {
		return 0, fmt.Errorf("next term of %q: %w", name, err)
	}
	if claim.Epoch <= floor {
		return 0, fmt.Errorf("next term of %q: %w: the journal %T has come to %d and cannot skip to %d; take one that is a FloorClaimer, or use the same source from the beginning",
			name, ErrInvalid, s.journal, claim.Epoch, floor+1)
	}
	return claim.Epoch, nil
}
