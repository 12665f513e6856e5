package projection

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Projection handles events and stores its offset. Create one with [New]. Run it as an actor, see
// [Projection.Behavior], or without one, see [Projection.CatchUp], but not both at the same time:
// two projections of one name disturb each other.
type Projection[E any] struct {
	config
	name    string
	reader  journal.EventReader
	query   journal.Query
	handler Handler[E]
	adapt   func(persistence.StoredEvent) ([]E, error) // or nil
	journal journal.Retainer                           // nil if it is not registered
}

// New returns a projection that passes the events selected by q, each of type E, to handler. Its
// offset is stored under name, which must never change.
//
// New panics if the name or the query is malformed, if reader or handler is nil, if the options are
// invalid, or if the type E is neither registered nor an interface.
func New[E any](name string, reader journal.EventReader, q journal.Query, handler Handler[E], opts ...Option) *Projection[E] {
	p := &Projection[E]{name: name, reader: reader, query: q, handler: handler}
	if err := p.complete(opts); err != nil {
		panic(fmt.Sprintf("projection %q: %v", name, err))
	}
	return p
}

func (p *Projection[E]) complete(opts []Option) (err error) {
	if p.config, err = newConfig(opts); err != nil {
		return err
	}
	if a, ok := p.handler.(*adapted[E]); ok {
		p.handler, p.adapt = a.Handler, a.adapt
	}
	if p.reader == nil || p.handler == nil {
		return errors.New("reader and handler must not be nil")
	}
	if p.registered {
		if p.journal = retainerOf(p.reader); p.journal == nil {
			return fmt.Errorf("Registered needs a journal.Retainer, which keeps events for readers, and not a %T", p.reader)
		}
	}
	if err := errors.Join(journal.ValidateID(p.name), p.query.Validate()); err != nil {
		return err
	}
	if p.workers > 1 && p.query.Slices != (journal.SliceRange{}) {
		return errors.New("a query for slices cannot be shared by Workers; leave out one of the two")
	}
	if t := reflect.TypeFor[E](); t.Kind() != reflect.Interface && p.adapt == nil {
		if _, ok := codec.NameOf(t); !ok {
			return fmt.Errorf("event %w", &codec.UnregisteredError{Type: t})
		}
	}
	return nil
}

// Name returns the name under which the offset is stored.
func (p *Projection[E]) Name() string { return p.name }

// CatchUp handles all events that are stored now, and returns; it also returns at the first event
// that fails, with those before it done. Use it in programs that run from time to time, and in
// tests. If ids are held back, it handles all others and returns an [*EventError] for each held id.
// A later call, in any process, continues from there. Events must not contain actor refs.
func (p *Projection[E]) CatchUp(ctx context.Context) (Status, error) {
	workers := p.newWorkers()
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	for i, w := range workers {
		w.registration.once = true
		all.Go(func() { errs[i] = w.catchUpFully(ctx) })
	}
	all.Wait()
	return p.status(workers), errors.Join(errs...)
}

// catchUpFully tries a failing event again alone, and then until SkipAfter skips it.
func (w *worker[E]) catchUpFully(ctx context.Context) error {
	for {
		w.beside = false
		_, err := w.catchUp(ctx)
		if err == nil {
			return w.heldError()
		}
		var e *EventError
		if ctx.Err() != nil || !errors.As(err, &e) || w.skipAfter == 0 && !w.beside {
			return err
		}
	}
}

func (p *Projection[E]) newWorkers() []*worker[E] {
	workers := make([]*worker[E], p.workers)
	for i, share := range journal.Split(p.workers) {
		workers[i] = newWorker(p, i, share)
	}
	return workers
}

func (p *Projection[E]) status(workers []*worker[E]) Status {
	s := Status{Name: p.name}
	for _, w := range workers {
		s.Workers = append(s.Workers, w.report.get())
	}
	return s
}
