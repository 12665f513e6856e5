package projection

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// ErrMoved: another projection of the same name runs elsewhere, or someone has set the offset.
// Nothing was stored. The projection continues from the stored offset. Run one of a name, as a
// singleton.
//
// An [OffsetStore] returns it if the stored offset is not the one that the projection has stored
// last.
var ErrMoved = errors.New("projection: the offset has been moved by another projection")

// An OffsetStore keeps the offsets of projections: text of any length, under names of any length.
// All methods may be called from any goroutine.
type OffsetStore interface {
	// Load returns the offset under name, or "" if no offset is stored.
	Load(ctx context.Context, name string) (journal.Offset, error)

	// Save changes the offset under name from after to to, atomically. It fails with [ErrMoved] if
	// the stored offset is not after.
	Save(ctx context.Context, name string, after, to journal.Offset) error
}

// A Handler handles events and stores the offset. [AtLeastOnce] and [InTx] return one for a
// function; implement Handler to handle whole batches.
type Handler[E any] interface {
	OffsetStore

	// Handle handles the events of b in order and stores the offset: b.To or, if it stops earlier,
	// the offset of the last handled event. It returns the stored offset. An error that concerns
	// one event is an [*EventError]; events before it may have been handled.
	Handle(ctx context.Context, b Batch[E]) (reached journal.Offset, err error)
}

// AtLeastOnce returns a handler that calls f for each event and then stores the offset in offsets.
// If the process dies in between, events are handled again: f must be idempotent. Let it set values
// instead of adding to them, or remember the [Event.Seq] of each id. The offset is stored after
// each batch, and before a failure is reported.
func AtLeastOnce[E any](offsets OffsetStore, f func(ctx context.Context, e Event[E]) error) Handler[E] {
	mustHave("AtLeastOnce", offsets != nil && f != nil)
	return &atLeastOnce[E]{OffsetStore: offsets, f: f}
}

func mustHave(constructor string, all bool) {
	if !all {
		panic("projection: " + constructor + " got nil; it needs all its arguments")
	}
}

// FromJournal returns h for a projection that handles the events that f returns in place of each
// stored event: none, one or several, which are handled together. Use the function of
// [persistence.Options], so that the projection and the behavior understand old events in the same
// way. If f fails, the event cannot be decoded, and its id is held back. Pass the result to [New]
// as it is: a handler around it hides f.
func FromJournal[E any](f func(stored persistence.StoredEvent) ([]E, error), h Handler[E]) Handler[E] {
	mustHave("FromJournal", f != nil) // New looks at h
	return &adapted[E]{Handler: h, adapt: f}
}

// adapted is only unpacked by New.
type adapted[E any] struct {
	Handler[E]
	adapt func(persistence.StoredEvent) ([]E, error)
}

type atLeastOnce[E any] struct {
	OffsetStore
	f func(context.Context, Event[E]) error
}

func (h *atLeastOnce[E]) Handle(ctx context.Context, b Batch[E]) (journal.Offset, error) {
	reached, err := b.Each(ctx, h.f)
	if reached == b.After {
		return reached, err
	}
	if failure := h.Save(ctx, b.Name, b.After, reached); failure != nil {
		return b.After, errors.Join(failure, err)
	}
	return reached, err
}

// MemoryOffsets is an [OffsetStore] in memory, for tests and for read models in memory, which every
// process must rebuild. The zero value is empty.
type MemoryOffsets struct {
	mu     sync.Mutex // guards byName
	byName map[string]journal.Offset
}

// Load implements [OffsetStore].
func (o *MemoryOffsets) Load(_ context.Context, name string) (journal.Offset, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byName[name], nil
}

// Save implements [OffsetStore].
func (o *MemoryOffsets) Save(_ context.Context, name string, after, to journal.Offset) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if found := o.byName[name]; found != after {
		return moved(name, after)
	}
	if o.byName == nil {
		o.byName = map[string]journal.Offset{}
	}
	o.byName[name] = to
	return nil
}

func moved(name string, after journal.Offset) error {
	return fmt.Errorf("%w: the offset of %q is no longer %q; run one projection of a name at a time, as a singleton", ErrMoved, name, after)
}
