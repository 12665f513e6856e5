package nats

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/understudy-go/understudy/singleton/lease"
)

// Take implements [lease.Store]. A Floor that no token is greater than is [ErrOverflow].
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
		return lease.Grant{}, fmt.Errorf("nats: take lease %q: %w", c.Name, err)
	}
	return lease.Grant{Claim: c, Token: taken.token, Version: taken.version()}, nil
}

// takeFrom makes c's holder follow the one of found. The token comes first: see the package
// documentation for why it must.
func (s *Store) takeFrom(ctx context.Context, c lease.Claim, found record) (record, error) {
	expired := s.observations.age(c.Name, found) >= found.ttl
	if found.holder != "" && found.holder != c.Holder && !expired {
		return record{}, lease.ErrHeld
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

// reserve returns a token above that number that nobody else has got or will get. It is
// [errStale] when another does the same.
func (s *Store) reserve(ctx context.Context, name string, above uint64) (uint64, error) {
	key := tokenKey(name)
	last, err := s.bucket.last(ctx, key)
	if err == nil && last.revision == 0 {
		// The first write says how far the bucket is, whatever was removed from it.
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

// usedTokens returns up to which number tokens are used up. A key that is new, or that
// somebody has deleted, has no number but its revision: no token was ahead of the
// revisions, unless a floor demanded it.
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
