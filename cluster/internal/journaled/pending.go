package journaled

import (
	"errors"
	"slices"
	"time"

	"github.com/understudy-go/understudy/persistence"
)

// Pending has the results of a machine's steps until they are durable. The facts take one append or
// several. The effects are carried out when all facts are durable. A coordinator that ends in
// between has stored some of the facts, and has carried out no effects: the next one continues from
// these facts, so each prefix of a step's facts must make sense. The zero value is empty.
type Pending[F, E any] struct {
	facts   []F
	effects []E
	singly  bool // the journal has rejected several facts at once, one of which may be the cause
}

// A Refuser can do without some facts.
type Refuser[F, E any] interface {
	// Refused handles a fact that the journal rejects because of its content. effects are those of
	// the steps that are not durable yet. It returns the facts and effects that follow, and the
	// effects that are left. It returns false if it cannot do without the fact.
	Refused(f F, why error, effects []E, now time.Time) (facts []F, left []E, ok bool)
}

// Add adds the result of a step.
func (p *Pending[F, E]) Add(facts []F, effects []E) {
	p.facts, p.effects = append(p.facts, facts...), append(p.effects, effects...)
}

// Any reports whether something is pending.
func (p *Pending[F, E]) Any() bool { return len(p.facts) > 0 || len(p.effects) > 0 }

// Batch returns the facts for the next append, of about maxBytes bytes, or a single larger one. A
// fact counts for 4 KiB if size is nil.
func (p *Pending[F, E]) Batch(maxBytes int, size func(F) int) []F {
	total := 0
	for i, f := range p.facts {
		if size == nil {
			total += 4 << 10
		} else {
			total += size(f)
		}
		if i > 0 && (p.singly || total > maxBytes) {
			return p.facts[:i]
		}
	}
	return p.facts
}

// Stored removes the first n facts, which are durable. When no others are left it returns the
// effects, to be carried out.
func (p *Pending[F, E]) Stored(n int) (effects []E, done bool) {
	if p.facts = p.facts[n:]; len(p.facts) > 0 {
		return nil, false
	}
	effects = p.effects
	*p = Pending[F, E]{}
	return effects, true
}

// Refused handles the rejection of the next n facts because of their content. From now on they are
// stored one at a time, so that only the culprit is lost. If a single fact is rejected, by has to
// do without it; nil cannot. Refused reports whether it makes sense to try again.
func (p *Pending[F, E]) Refused(n int, why error, by Refuser[F, E], now time.Time) bool {
	switch {
	case errors.Is(why, persistence.ErrConflict) || n == 0:
		return false
	case n > 1:
		p.singly = true
		return true
	case by == nil:
		return false
	}
	facts, left, ok := by.Refused(p.facts[0], why, p.effects, now)
	if ok {
		p.facts, p.effects = append(slices.Clone(p.facts[1:]), facts...), left
	}
	return ok
}
