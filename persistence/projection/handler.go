package projection

import (
	"context"
	"errors"

	"github.com/understudy-go/understudy/persistence/journal"
)

// ErrMoved is what an [OffsetStore] answers when an offset is not where its reader has left
// it: another projection of the same name runs elsewhere, or somebody has set it. Nothing
// was stored. The projection goes on from the offset that is stored now.
var ErrMoved = errors.New("projection: the offset has been moved by somebody else")

// An OffsetStore keeps how far projections have come: text of any length, under names of any
// length. All methods may be called from any
// goroutine.
type OffsetStore interface {
	// Load returns the offset under name, "" when there is none.
	Load(ctx context.Context, name string) (journal.Offset, error)

	// Save moves the offset under name from after to to, or fails with [ErrMoved] when it
	// is not after. No other Save comes between the two.
	Save(ctx context.Context, name string, after, to journal.Offset) error
}

// A Handler does something with events, and keeps how far it has come. [AtLeastOnce] and
// [InTx] make one of a function; write one to handle batches at once.
type Handler[E any] interface {
	OffsetStore

	// Handle handles the events of b, in order, and moves the offset, to b.To or, when it
	// stops before, to that of the last event that it has handled. It returns where the
	// offset is now. An error that is due to one event is an [*EventError]; it may come
	// with events before it done.
	Handle(ctx context.Context, b Batch[E]) (reached journal.Offset, err error)
}

// AtLeastOnce handles each event with f, and then stores the offset. When the process dies
// between the two, events come again; so f must not mind: let it set values, rather than
// add to them, or remember [Event.Seq] of each id.
//
// The offset is stored after each batch, and before a failure is reported.
func AtLeastOnce[E any](offsets OffsetStore, f func(ctx context.Context, e Event[E]) error) Handler[E] {
	return &atLeastOnce[E]{OffsetStore: offsets, f: f}
}

type atLeastOnce[E any] struct {
	OffsetStore
	f func(context.Context, Event[E]) error
}

func (h *atLeastOnce[E]) Handle(ctx context.Context, b Batch[E]) (journal.Offset, error) {
	reached, err := b.Each(func(e Event[E]) error { return h.f(ctx, e) })
	if reached == b.After {
		return reached, err
	}
	if failure := h.Save(ctx, b.Name, b.After, reached); failure != nil {
		return b.After, errors.Join(failure, err)
	}
	return reached, err
}
