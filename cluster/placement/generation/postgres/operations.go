package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/understudy-go/understudy/cluster/placement/generation"
)

// ClaimTerm implements [generation.Source].
func (s *Source) ClaimTerm(ctx context.Context, label, owner string) (generation.Generation, error) {
	g, err := s.change(ctx, s.statements.claimTerm, escape(label), escape(owner))
	return g, failed("claim a term", label, err)
}

// ClaimSeq implements [generation.Source].
func (s *Source) ClaimSeq(ctx context.Context, label string) (generation.Generation, error) {
	g, err := s.change(ctx, s.statements.claimSeq, escape(label))
	if errors.Is(err, pgx.ErrNoRows) {
		err = generation.ErrNeverClaimed
	}
	return g, failed("claim a number", label, err)
}

// Current implements [generation.Source].
func (s *Source) Current(ctx context.Context, label string) (generation.Ownership, bool, error) {
	var owner string
	var term, seq int64
	err := s.pool.QueryRow(ctx, s.statements.current, pgx.QueryExecModeExec, escape(label)).Scan(&owner, &term, &seq)
	if errors.Is(err, pgx.ErrNoRows) {
		return generation.Ownership{}, false, nil
	}
	var o generation.Ownership
	if err == nil {
		o, err = ownership(owner, term, seq)
	}
	return o, err == nil, failed("look for the owner", label, explain(err))
}

// PutSpec implements [generation.Source].
func (s *Source) PutSpec(ctx context.Context, label string, spec []byte) error {
	if spec == nil {
		spec = []byte{} // as nil is null
	}
	_, err := s.change(ctx, s.statements.putSpec, escape(label), spec)
	return failed("keep the spec", label, err)
}

// List implements [generation.Source].
func (s *Source) List(ctx context.Context) ([]generation.Record, error) {
	rows, err := s.pool.Query(ctx, s.statements.list, pgx.QueryExecModeExec)
	if err != nil {
		return nil, fmt.Errorf("postgres: list: %w", explain(err))
	}
	records, err := pgx.CollectRows(rows, record)
	if err != nil {
		return nil, fmt.Errorf("postgres: list: %w", explain(err))
	}
	slices.SortFunc(records, func(a, b generation.Record) int { return cmp.Compare(a.Label, b.Label) })
	return records, nil
}

// Forget implements [generation.Source].
func (s *Source) Forget(ctx context.Context, label string) error {
	_, err := s.change(ctx, s.statements.forget, escape(label))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return failed("forget the records", label, err)
}

// change runs a statement that returns a generation and a setting, in one request and without
// preparing it. It has read the answer to the commit when it returns without an error.
func (s *Source) change(ctx context.Context, sql string, args ...any) (generation.Generation, error) {
	var term, seq int64
	row := s.pool.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	if err := row.Scan(&term, &seq, nil); err != nil {
		return generation.Generation{}, explain(err)
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
	if r.Label, err = unescape(label); err == nil && owner != nil {
		r.Ownership, err = ownership(*owner, term, seq)
	}
	return r, err
}

func ownership(owner string, term, seq int64) (generation.Ownership, error) {
	owner, err := unescape(owner)
	return generation.Ownership{Owner: owner, Generation: numbers(term, seq)}, err
}

// numbers makes a generation of what the table's constraints have let in.
func numbers(term, seq int64) generation.Generation {
	return generation.Generation{Term: uint64(term), Seq: uint64(seq)}
}

func failed(what, label string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("postgres: %s of %q: %w", what, label, err)
}
