package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/understudy-go/understudy/internal/pg"
	"github.com/understudy-go/understudy/singleton/lease"
)

// Take implements [lease.Store]. It returns [ErrOverflow] for a Floor that does not fit into a
// bigint.
func (s *Store) Take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	floor, err := least(c.Floor)
	if err != nil {
		return lease.Grant{}, fmt.Errorf("postgres: take lease %q: %w", c.Name, err)
	}
	token, err := s.one(ctx, s.statements.take, pg.Escape(c.Name), pg.Escape(c.Holder), c.TTL.Microseconds(), floor)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return lease.Grant{}, s.whose(ctx, lease.ErrHeld, c)
	case err != nil:
		return lease.Grant{}, fmt.Errorf("postgres: take lease %q: %w", c.Name, err)
	}
	return lease.Grant{Claim: c, Token: token}, nil
}

// Renew implements [lease.Store].
func (s *Store) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	_, err := s.one(ctx, s.statements.renew, pg.Escape(g.Name), pg.Escape(g.Holder), g.TTL.Microseconds(), int64(g.Token))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return lease.Grant{}, s.whose(ctx, lease.ErrLost, g.Claim)
	case err != nil:
		return lease.Grant{}, fmt.Errorf("postgres: renew lease %q: %w", g.Name, err)
	}
	return g, nil
}

func (s *Store) whose(ctx context.Context, reason error, c lease.Claim) error {
	var holder string
	err := s.db.QueryRow(ctx, s.statements.holder, pg.Escape(c.Name)).Scan(&holder)
	if err != nil || holder == pg.Escape(c.Holder) {
		return reason
	}
	return fmt.Errorf("%w: %s has it", reason, holder)
}

// Release implements [lease.Store]. A grant without a token stands for any lease that its holder
// may have.
func (s *Store) Release(ctx context.Context, g lease.Grant) error {
	sql, args := s.statements.release, []any{pg.Escape(g.Name), pg.Escape(g.Holder), int64(g.Token)}
	if g.Token == 0 {
		sql, args = s.statements.abandon, args[:2]
	}
	_, err := s.one(ctx, sql, args...)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("postgres: release lease %q: %w", g.Name, err)
	}
	return nil
}

// ClaimTerm implements placement.GenerationSource. It does not store the owner. The terms of a label
// are the tokens of the lease of that name, so a singleton may change from one to the other and
// its numbers continue.
func (s *Store) ClaimTerm(ctx context.Context, label, _ string, floor uint64) (term uint64, err error) {
	above, err := least(floor)
	if err == nil {
		term, err = s.one(ctx, s.statements.claimTerm, pg.Escape(label), above)
	}
	if err != nil {
		return 0, fmt.Errorf("postgres: claim a term of %q: %w", label, err)
	}
	return term, nil
}

// one runs a statement that returns a number and a setting. If it returns without an error, the
// commit has been answered.
func (s *Store) one(ctx context.Context, sql string, args ...any) (uint64, error) {
	var number int64
	if err := s.db.QueryRow(ctx, sql, args...).Scan(&number, nil); err != nil {
		return 0, s.explain(err)
	}
	return uint64(number), nil
}
