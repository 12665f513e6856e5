package leases

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

// ErrOverflow: the token does not fit into 64 bits.
var ErrOverflow = errors.New("jetstream: the tokens of this name are used up, they end at 2⁶⁴-1")

var _ lease.Store = (*Store)(nil)

// A Store is a [lease.Store]. Make one with [Open].
type Store struct {
	bucket       bucket
	observations observations
}

func (s *Store) read(ctx context.Context, name string) (record, error) {
	e, err := s.bucket.last(ctx, holderKey(name))
	if err != nil {
		return record{}, err
	}
	r, err := parseRecord(e)
	if err != nil {
		return record{}, fmt.Errorf("the key %q: %w", holderKey(name), err)
	}
	s.observations.saw(name, r, time.Now())
	return r, nil
}

// write makes r the record of a name if the last one has that revision, and returns r with its own
// revision. Otherwise it returns [errStale].
func (s *Store) write(ctx context.Context, name string, r record, last uint64) (record, error) {
	began := time.Now()
	revision, err := s.bucket.update(ctx, holderKey(name), r.encode(), last)
	if err != nil {
		return record{}, err
	}
	r.revision = revision
	s.observations.wrote(name, r, began)
	return r, nil
}

// maxAttempts limits how often a request is repeated, some seconds in all. Reasons are another
// writer, a write that has not reached all replicas, and a stream without a leader.
const maxAttempts = 40

// untilCurrent repeats f while what it has read is out of date, or the outcome is unknown.
func untilCurrent(ctx context.Context, f func() error) error {
	for n := 1; ; n++ {
		err := f()
		if !errors.Is(err, errStale) && !errors.Is(err, errAway) {
			return err
		}
		if n == maxAttempts {
			return fmt.Errorf("%d times in a row: %w", n, err)
		}
		if n == 1 && errors.Is(err, errStale) {
			continue // a grant may remember the revision from before a lost answer
		}
		if late := backOff(ctx, n); late != nil {
			return fmt.Errorf("%w: %w", err, late)
		}
	}
}

// backOff waits before the attempt after the nth: up to 4 ms, 8 ms and so on, up to 128 ms. The
// wait is random, so that contenders that have collided do not collide again.
func backOff(ctx context.Context, n int) error {
	timer := time.NewTimer(rand.N(2 * time.Millisecond << min(n, 6)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Take implements [lease.Store]. It returns [ErrOverflow] for the highest possible Floor.
func (s *Store) Take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	var taken record
	err := untilCurrent(ctx, func() error {
		found, err := s.read(ctx, c.Name)
		if err != nil {
			return err
		}
		taken, err = s.takeFrom(ctx, c, found)
		return err
	})
	if err != nil {
		return lease.Grant{}, fmt.Errorf("jetstream: take lease %q: %w", c.Name, err)
	}
	return lease.Grant{Claim: c, Token: taken.token, Version: taken.version()}, nil
}

// takeFrom makes c's holder the successor of found. It takes the token first; the package
// documentation says why.
func (s *Store) takeFrom(ctx context.Context, c lease.Claim, found record) (record, error) {
	expired := s.observations.age(c.Name, found) >= found.ttl
	if found.holder != "" && found.holder != c.Holder && !expired {
		return record{}, fmt.Errorf("%w: %s has it", lease.ErrHeld, found.holder)
	}
	token := found.token
	if found.holder != c.Holder || token <= c.Floor || expired {
		var err error
		if token, err = s.reserve(ctx, c.Name, max(token, c.Floor)); err != nil {
			return record{}, err
		}
	}
	return s.write(ctx, c.Name, newRecord(c.Holder, token, c.TTL), found.revision)
}

// reserve returns a token above that number that no other acquisition gets. It returns [errStale]
// if another one reserves at the same time.
func (s *Store) reserve(ctx context.Context, name string, above uint64) (uint64, error) {
	key := tokenKey(name)
	last, err := s.bucket.last(ctx, key)
	if err == nil && last.revision == 0 {
		// The first write returns the current revision of the bucket, whatever was removed from it.
		last.revision, err = s.bucket.update(ctx, key, nil, 0)
	}
	if err != nil {
		return 0, err
	}
	used, err := usedTokens(last)
	if err != nil {
		return 0, fmt.Errorf("the key %q: %w", key, err)
	}
	highest := max(used, above)
	if highest == math.MaxUint64 {
		return 0, fmt.Errorf("%w: got %d with a floor of %d", ErrOverflow, used, above)
	}
	_, err = s.bucket.update(ctx, key, strconv.AppendUint(nil, highest+1, 10), last.revision)
	return highest + 1, err
}

// usedTokens returns the number up to which tokens are used up. For a new or deleted key this is
// its revision: tokens are never ahead of the revisions, unless a floor has raised them.
func usedTokens(e entry) (uint64, error) {
	if len(e.value) == 0 {
		return e.revision - 1, nil
	}
	used, err := strconv.ParseUint(string(e.value), 10, 64)
	if err != nil {
		return 0, errors.Join(errForeign, err)
	}
	return used, nil
}

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
		return lease.Grant{}, fmt.Errorf("jetstream: renew lease %q: %w", g.Name, err)
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
		return fmt.Errorf("jetstream: release lease %q: %w", g.Name, err)
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
