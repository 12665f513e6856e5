package nats

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/singleton/lease"
)

// Renew implements [lease.Store].
func (s *Store) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	renewed, err := s.follow(ctx, g, func(found record) (record, error) {
		if s.observations.age(g.Name, found) >= g.TTL {
			if _, err := s.readOwn(ctx, g, 0); errors.Is(err, lease.ErrLost) {
				return record{}, err // which names the next holder
			}
			return record{}, lease.ErrLost // it has expired
		}
		return newRecord(g.Holder, found.token, g.TTL), nil
	})
	if err != nil {
		return lease.Grant{}, fmt.Errorf("nats: renew lease %q: %w", g.Name, err)
	}
	g.Version = renewed.version()
	return g, nil
}

// Release implements [lease.Store]. A grant without a version stands for any lease that its holder
// may have. The record stays, with its token.
func (s *Store) Release(ctx context.Context, g lease.Grant) error {
	_, err := s.follow(ctx, g, func(found record) (record, error) {
		return newRecord("", found.token, 0), nil
	})
	if err != nil && !errors.Is(err, lease.ErrLost) {
		return fmt.Errorf("nats: release lease %q: %w", g.Name, err)
	}
	return nil
}

// follow replaces the record of g by the result of next. It first tries with the record that g
// remembers, which is one request. If that is out of date it reads. [lease.ErrLost] means that g no
// longer has a record.
func (s *Store) follow(ctx context.Context, g lease.Grant, next func(found record) (record, error)) (record, error) {
	known := parseVersion(g.Version)
	found := record{revision: known, holder: g.Holder, token: g.Token}
	var written record
	err := untilCurrent(ctx, func() error {
		if found.revision == 0 {
			var err error
			if found, err = s.readOwn(ctx, g, known); err != nil {
				return err
			}
		}
		r, err := next(found)
		if err == nil {
			written, err = s.write(ctx, g.Name, r, found.revision)
		}
		found = record{}
		return err
	})
	return written, err
}

// readOwn returns the record of g. An answer older than g comes from a server that is behind, and
// is ignored. For a key that is gone without a trace this cannot be told.
func (s *Store) readOwn(ctx context.Context, g lease.Grant, known uint64) (record, error) {
	r, err := s.read(ctx, g.Name)
	switch {
	case err != nil:
		return record{}, err
	case r.revision != 0 && r.revision < known:
		return record{}, fmt.Errorf("%w: revision %d, known is %d", errStale, r.revision, known)
	case r.holder != g.Holder && r.holder != "":
		return record{}, fmt.Errorf("%w: %s has it", lease.ErrLost, r.holder)
	case r.holder != g.Holder, g.Token != 0 && r.token != g.Token:
		return record{}, lease.ErrLost
	}
	return r, nil
}
