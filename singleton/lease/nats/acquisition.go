package nats

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/understudy-go/understudy/singleton/lease"
)

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
		return lease.Grant{}, fmt.Errorf("nats: take lease %q: %w", c.Name, err)
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
