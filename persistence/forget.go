package persistence

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Forget erases all that j keeps of a persistence id: its events or durable state, its snapshots,
// its timers and, if it is the id of a delivery queue, the queued and the refused messages. When it
// returns, the files of the store have nothing of them, as far as the store can do that. The
// documentation of each store says what it leaves; backups keep what they have. Any process that
// has the journal open may call it. An id that was never used is left alone.
//
// A tombstone stays: the id itself, and its last epoch. An actor of the id that is running is
// fenced: it fails with [ErrForgotten] when it writes next. Until then it answers from memory, so
// stop it first if it seldom writes. An actor that starts later fails, too, so that nobody revives
// the id unknowingly; see [Revive]. Projections with the option projection.Forgotten hear of it.
// Ids themselves should be nothing that must be forgotten.
//
// After an error call it again: it continues. The error is [errors.ErrUnsupported] for a store
// that cannot forget.
func Forget(ctx context.Context, j Journal, id string) error {
	f, err := forgetter(j, "forget", id)
	if err != nil {
		return err
	}
	if err := f.Forget(ctx, id); err != nil || len(id)+len(refusedSuffix) > journal.MaxIDLength {
		return err
	}
	return f.Forget(ctx, id+refusedSuffix)
}

// refusedSuffix ends the id of the refused messages of a delivery queue.
const refusedSuffix = "/refused"

// Revive lets a forgotten id begin anew, without events and with the initial state. Sequence
// numbers begin with 1 again. It starts no actor. An id that is not forgotten is left alone. The
// errors are those of [Forget].
func Revive(ctx context.Context, j Journal, id string) error {
	f, err := forgetter(j, "revive", id)
	if err != nil {
		return err
	}
	if err := f.Revive(ctx, id); err != nil || len(id)+len(refusedSuffix) > journal.MaxIDLength {
		return err
	}
	return f.Revive(ctx, id+refusedSuffix)
}

func forgetter(j Journal, op, id string) (journal.Forgetter, error) {
	if j == nil {
		return nil, fmt.Errorf("persistence: %s %q: the journal is nil", op, id)
	}
	f, ok := journal.As[journal.Forgetter](j)
	if !ok {
		return nil, fmt.Errorf("persistence: %s %q: a %s cannot erase an id: %w; keep what must be forgotten in package sqlite, postgres or jetstream",
			op, id, storeName(j), errors.ErrUnsupported)
	}
	return f, nil
}
