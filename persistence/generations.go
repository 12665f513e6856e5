package persistence

import (
	"context"
	"crypto/rand"
	"fmt"
	"github.com/understudy-go/understudy/persistence/journal"
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
	writer  journal.WriterID
}

// NextTerm returns the epoch of a new claim of the persistence id "singleton/" and name,
// which nothing else may use: it is greater than floor, and than every one before. It
// fails as the journal does: with [ErrUnavailable] and [ErrUnknown] a term may have been
// left out. With [ErrInvalid] there is no help: name is too long for a persistence id, or the
// terms are used up.
func (s *GenerationSource) NextTerm(ctx context.Context, name string, floor uint64) (term uint64, err error) {
	id := "singleton/" + name
	if _, err := journal.NextEpoch(floor, 0); err != nil {
		return 0, fmt.Errorf("next term of %q: %w", name, err)
	}
	claim, err := s.journal.Claim(ctx, id, s.writer, floor+1)
	if err != nil {
		return 0, fmt.Errorf("next term of %q: %w", name, err)
	}
	return claim.Epoch, nil
}
