package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/understudy-go/understudy/internal/pg"
	"github.com/understudy-go/understudy/singleton/generation"
)

// ClaimTerm implements [generation.Source].
func (s *Source) ClaimTerm(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error) {
	if floor >= math.MaxUint32 {
		return generation.Generation{}, failed("claim a term", label, fmt.Errorf("%w: no term is left after %d", generation.ErrOverflow, floor))
	}
	g, err := s.change(ctx, s.statements.claimTerm, pg.Escape(label), pg.Escape(owner), int64(floor))
	return g, failed("claim a term", label, err)
}

// ClaimSeq implements [generation.Source].
func (s *Source) ClaimSeq(ctx context.Context, label string) (generation.Generation, error) {
	g, err := s.change(ctx, s.statements.claimSeq, pg.Escape(label))
	if errors.Is(err, pgx.ErrNoRows) {
		err = generation.ErrNeverClaimed
	}
	return g, failed("claim a number", label, err)
}

// Current implements [generation.Source].
func (s *Source) Current(ctx context.Context, label string) (generation.Ownership, bool, error) {
	var owner string
	var term, seq int64
	err := s.db.QueryRow(ctx, s.statements.current, pg.Escape(label)).Scan(&owner, &term, &seq)
	if errors.Is(err, pgx.ErrNoRows) {
		return generation.Ownership{}, false, nil
	}
	var o generation.Ownership
	if err == nil {
		o, err = ownership(owner, term, seq)
	}
	return o, err == nil, failed("look for the owner", label, s.explain(err))
}

// PutSpec implements [generation.Source].
func (s *Source) PutSpec(ctx context.Context, label string, spec []byte) error {
	if spec == nil {
		spec = []byte{} // as nil is null
	}
	_, err := s.change(ctx, s.statements.putSpec, pg.Escape(label), spec)
	return failed("keep the spec", label, err)
}

// List implements [generation.Source].
func (s *Source) List(ctx context.Context) ([]generation.Record, error) {
	rows, err := s.db.Query(ctx, s.statements.list)
	if err != nil {
		return nil, fmt.Errorf("postgres: list: %w", s.explain(err))
	}
	records, err := pgx.CollectRows(rows, record)
	if err != nil {
		return nil, fmt.Errorf("postgres: list: %w", s.explain(err))
	}
	slices.SortFunc(records, func(a, b generation.Record) int { return cmp.Compare(a.Label, b.Label) })
	return records, nil
}

// Forget implements [generation.Source].
func (s *Source) Forget(ctx context.Context, label string) error {
	_, err := s.change(ctx, s.statements.forget, pg.Escape(label))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return failed("forget the records", label, err)
}

// change runs a statement that returns a generation and a setting. When it returns without an error
// the commit has been answered.
func (s *Source) change(ctx context.Context, sql string, args ...any) (generation.Generation, error) {
	var term, seq int64
	if err := s.db.QueryRow(ctx, sql, args...).Scan(&term, &seq, nil); err != nil {
		return generation.Generation{}, s.explain(err)
	}
	return numbers(term, seq), nil
}

func record(row pgx.CollectableRow) (r generation.Record, err error) {
	var label string
	var owner *string
	var term, seq int64
	if err = row.Scan(&label, &r.Spec, &owner, &term, &seq); err != nil {
		return r, err
	}
	if r.Label, err = pg.Unescape(label); err == nil && owner != nil {
		r.Ownership, err = ownership(*owner, term, seq)
	}
	return r, err
}

func ownership(owner string, term, seq int64) (generation.Ownership, error) {
	owner, err := pg.Unescape(owner)
	return generation.Ownership{Owner: owner, Generation: numbers(term, seq)}, err
}

// numbers returns the generation of a row, whose constraints bound both numbers.
func numbers(term, seq int64) generation.Generation {
	return generation.Generation{Term: uint64(term), Seq: uint64(seq)}
}
