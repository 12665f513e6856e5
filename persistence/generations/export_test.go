package generations

import (
	"context"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/generation"
)

// Advance makes g the generation of a label, with some owner.
func (j *Journal) Advance(ctx context.Context, label string, g generation.Generation) error {
	return j.do(ctx, func(known staged) error {
		known.put(label, advanced(label, g))
		return nil
	})
}

func advanced(label string, g generation.Generation) entry {
	return entry{Label: []byte(label), Term: g.Term, Seq: g.Seq, Owned: true, Owner: []byte("somebody")}
}

// NewTidyJournal returns a source that keeps its log much shorter than usual.
func NewTidyJournal(j journal.Journal, compactAfter uint64) *Journal {
	s := NewJournal(j)
	s.log.compactAfter = compactAfter
	return s
}

// LogID is the persistence id of the log.
const LogID = logID
