package nats

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/understudy-go/understudy/internal/pause"
	"github.com/understudy-go/understudy/singleton/lease"
)

// ErrOverflow: the token does not fit into 64 bits. No counter gets that far: the floor of the
// claim is wrong. Use another name for the lease.
var ErrOverflow = errors.New("nats: the tokens of this name are used up, they end at 2⁶⁴-1")

var _ lease.Store = (*Store)(nil)

// A Store is a [lease.Store] in a key-value bucket of NATS. Its methods may be called from any
// goroutine, and return when their context ends. All leases of a process should share one Store,
// because it remembers how long it has seen each record. Make one with [Open].
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
	return pause.For(ctx, rand.N(2*time.Millisecond<<min(n, 6)))
}
