package nats

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

// ErrOverflow is the error of an acquisition whose token does not fit into 64 bits. A
// counter does not come that far; look for who invented the floor.
var ErrOverflow = errors.New("nats: the tokens of this name are used up, they end at 2⁶⁴-1")

var _ lease.Store = (*Store)(nil)

// A Store is a [lease.Store] in a key-value bucket of NATS. Its methods may be called from
// any goroutine, and end when their context does. All leases of a process should share
// one: it remembers since when it has seen which record. Make one with [Open].
type Store struct {
	bucket       bucket
	observations observations
}

// read returns what the bucket has of a name, and notes that it has been seen.
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

// write makes r the record of a name if the last one has that revision, and returns r with
// its own. Else it is [errStale].
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

// maxAttempts is how often a request is tried that comes second to somebody else's, or to
// what is still on its way through the replicas, or that finds no leader: some seconds.
const maxAttempts = 40

// untilCurrent repeats f as long as it finds that what it has read is not current, or that
// nobody can say.
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
			continue // a grant may remember a revision from before a lost answer
		}
		if late := pause(ctx, n); late != nil {
			return fmt.Errorf("%w: %w", err, late)
		}
	}
}

// pause waits before the attempt after the nth: up to 4 ms, 8 ms and so on to 128 ms. It is
// random, so that those who have met do not meet again.
func pause(ctx context.Context, n int) error {
	timer := time.NewTimer(rand.N(2 * time.Millisecond << min(n, 6)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
