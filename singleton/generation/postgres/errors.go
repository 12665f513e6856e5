package postgres

import (
	"fmt"

	"github.com/understudy-go/understudy/internal/pg"
	"github.com/understudy-go/understudy/singleton/generation"
)

// explain adds to an error of the server what it means, or how to fix it.
func (s *Source) explain(err error) error {
	if pg.Code(err) == pg.CheckFailed {
		return fmt.Errorf("%w: %w", generation.ErrOverflow, err)
	}
	return s.db.Explain(err)
}

func failed(what, label string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("postgres: %s of %q: %w", what, label, err)
}
