package postgres

import (
	"errors"
	"fmt"
	"math"

	"github.com/understudy-go/understudy/internal/pg"
)

// ErrOverflow: a floor or a token does not fit into a bigint. No counter gets that far: the floor
// of the claim is wrong. Use another name for the lease.
var ErrOverflow = errors.New("postgres: the numbers of this name are used up, they end at 2⁶³-1")

func least(floor uint64) (int64, error) {
	if floor >= math.MaxInt64 {
		return 0, fmt.Errorf("%w: got a floor of %d", ErrOverflow, floor)
	}
	return int64(floor), nil
}

func (s *Store) explain(err error) error {
	if pg.Code(err) == pg.OutOfRange {
		return fmt.Errorf("%w: %w", ErrOverflow, err)
	}
	return s.db.Explain(err)
}
