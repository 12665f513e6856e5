package projection

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// batchBytes bounds the payloads of a batch in bytes, and thereby the memory of a worker.
const batchBytes = 1 << 20

// A worker handles a share of the events, one batch after the other. It belongs to one goroutine;
// other goroutines read its report.
type worker[E any] struct {
	*Projection[E]
	name   string // of its offset
	query  journal.Query
	system *actor.System // or nil
	log    *zap.Logger
	report report

	registration registration

	loaded bool     // offset is the stored offset
	tried  []func() // run once the ids that are held back have been tried again
	offset journal.Offset
	held   heldIDs

	single  int            // how many events are handled one by one, because one of them has failed
	culprit journal.Offset // of the event that has failed last
	tries   int            // how many times in a row it has failed
	beside  bool           // it was not alone in its transaction
}

func newWorker[E any](p *Projection[E], i int, share journal.SliceRange) *worker[E] {
	w := &worker[E]{Projection: p, name: p.Name(), query: p.query, log: zap.NewNop()}
	w.report.status.Slices = p.query.Slices
	if p.workers > 1 {
		w.name = fmt.Sprintf("%s/%d", p.name, i)
		w.query.Slices = share
		w.report.status.Slices = share
	}
	return w
}

// catchUp handles all stored events, and reports whether there were any. After a failure it starts
// again at the stored offset.
func (w *worker[E]) catchUp(ctx context.Context) (found bool, err error) {
	err = w.load(ctx)
	var end journal.Offset
	if err == nil {
		end, err = w.end(ctx)
	}
	if err == nil {
		found, err = w.read(ctx)
	}
	if err == nil && end != "" {
		err = w.register(ctx, end)
	}
	w.loaded = err == nil
	if err == nil || ctx.Err() == nil {
		w.report.ended(err)
	}
	return found, err
}

func (w *worker[E]) read(ctx context.Context) (found bool, err error) {
	b, size := w.batch(), 0
	for entry, err := range w.reader.Events(ctx, w.query, w.offset) {
		if err != nil && entry.Offset == "" {
			return found, errors.Join(w.flush(ctx, b), err)
		}
		found = true
		w.report.found(entry.Record.Time)
		if err := w.add(ctx, b, &entry, err); err != nil {
			return found, err
		}
		size += len(entry.Record.Payload)
		if len(b.Events) >= w.limit() || size >= batchBytes {
			if err := w.flush(ctx, b); err != nil {
				return found, err
			}
			b, size = w.batch(), 0
		}
	}
	return found, w.flush(ctx, b)
}

func (w *worker[E]) batch() *Batch[E] {
	return &Batch[E]{Name: w.name, After: w.offset, To: w.offset, Within: w.within, system: w.system}
}

func (w *worker[E]) limit() int {
	if w.single > 0 {
		return 1
	}
	return w.config.batch
}

// add adds an event to b, or passes over it. damage is the error with which it was read.
func (w *worker[E]) add(ctx context.Context, b *Batch[E], entry *journal.Entry, damage error) error {
	unowned := entry.ID == "" // of no id that could be held back, so each worker stops before it
	if w.ofIDs != nil && !unowned && !w.ofIDs(entry.ID) || !entry.Forgotten() && w.passesOver(entry) {
		b.To = entry.Offset
		return nil
	}
	if damage == nil && entry.Forgotten() {
		w.forget(b, entry)
		return nil
	}
	events, err := decode(w.system, entry, damage, w.adapt)
	switch {
	case err == nil:
		b.Events = append(b.Events, events...)
	case w.skipOthers && isOther(err):
		w.report.update(func(s *WorkerStatus) { s.Skipped++ })
	case w.skipAfter == 0 && !unowned:
		// First the events before it: the offset at which the id is held back is the worker's.
		if failure := w.flush(ctx, b); failure != nil {
			return failure
		}
		if failure := w.hold(ctx, entry, err); failure != nil {
			return failure
		}
	default:
		if failure := w.flush(ctx, b); failure != nil {
			return failure
		}
		if !w.givesUp(err) {
			return err
		}
		w.skipped(err)
		b.To = entry.Offset
		return w.flush(ctx, b) // so that it is not handled again if a later one fails
	}
	b.To = entry.Offset
	return nil
}

func (w *worker[E]) flush(ctx context.Context, b *Batch[E]) error {
	if b.After == b.To {
		return nil
	}
	// The list comes first. Were the offset stored before it, a crash in between would lose the
	// events that were passed over because their id is held back.
	if err := w.saveHeld(ctx); err != nil {
		return err
	}
	if err := w.flushEvents(ctx, b); err != nil {
		return err
	}
	w.forgetReleased()
	if w.isDue() {
		return w.register(ctx, w.offset)
	}
	return nil
}

func (w *worker[E]) flushEvents(ctx context.Context, b *Batch[E]) error {
	for b.After != b.To {
		before := len(b.Events)
		reached, err := w.handle(ctx, b)
		if reached == b.After && err == nil {
			err = fmt.Errorf("projection %q: the handler has neither moved the offset nor failed", w.name)
		}
		last := b.Events
		b.drop(reached)
		w.progress(last[:before-len(b.Events)], reached)
		if err == nil {
			continue
		}
		if err := w.failed(ctx, b, err); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker[E]) handle(ctx context.Context, b *Batch[E]) (journal.Offset, error) {
	if len(b.Events) > 0 {
		return w.handler.Handle(ctx, *b)
	}
	if err := w.handler.Save(ctx, b.Name, b.After, b.To); err != nil {
		return b.After, err
	}
	return b.To, nil
}

func (w *worker[E]) progress(done []Event[E], reached journal.Offset) {
	w.offset = reached
	w.single = max(0, w.single-len(done))
	w.report.update(func(s *WorkerStatus) {
		s.Offset = reached
		s.Handled += uint64(len(done))
		if len(done) > 0 {
			s.Last = done[len(done)-1].Time
			s.Lag = time.Since(s.Last)
		}
	})
	if len(done) > 0 {
		w.report.handled(done[len(done)-1].Time)
	}
}

// failed returns nil if it has skipped the event that failed. It skips an event only if the event
// was alone in its transaction, because other events of the transaction are rolled back too.
func (w *worker[E]) failed(ctx context.Context, b *Batch[E], err error) error {
	gone := w.givesUp(err)
	if w.beside = len(b.Events) > 0 && !b.isOne(); w.beside {
		w.single = len(b.Events) // the next attempts are for one event each, and find the culprit
	}
	if !gone || !b.isOne() {
		return err
	}
	if failure := w.handler.Save(ctx, b.Name, b.After, b.To); failure != nil {
		return errors.Join(failure, err)
	}
	b.drop(b.To)
	w.progress(nil, b.To)
	w.skipped(err)
	return nil
}

func (w *worker[E]) givesUp(err error) bool {
	var e *EventError
	if !errors.As(err, &e) {
		return false
	}
	if e.Offset != w.culprit {
		w.culprit, w.tries = e.Offset, 0
	}
	w.tries++
	return w.skipAfter > 0 && w.tries >= w.skipAfter
}

func (w *worker[E]) skipped(err error) {
	w.log.Error("event passed over; the projection lacks it", zap.String("projection", w.name), zap.Error(err), zap.Int("failures", w.tries))
	w.report.update(func(s *WorkerStatus) { s.Skipped++ })
}

func (w *worker[E]) load(ctx context.Context) error {
	if w.loaded {
		return nil
	}
	if err := w.checkWorkers(ctx); err != nil {
		return err
	}
	offset, err := w.handler.Load(ctx, w.name)
	if err != nil {
		return err
	}
	if strings.HasPrefix(string(offset), layoutPrefix) {
		return w.layoutError(offset)
	}
	w.offset = offset
	w.report.update(func(s *WorkerStatus) { s.Offset = offset })
	if err := w.loadHeld(ctx); err != nil {
		return err
	}
	if err := w.release(ctx); err != nil {
		return err
	}
	for _, tried := range w.tried {
		tried()
	}
	w.tried = nil
	return w.begin(ctx)
}

// layoutPrefix precedes the number of workers. A projection with several workers stores that number
// under its name, in place of an offset.
const layoutPrefix = "workers:"

// checkWorkers makes sure that the stored offsets belong to the current number of workers. With
// another number, events would be skipped or repeated.
func (w *worker[E]) checkWorkers(ctx context.Context) error {
	if w.workers == 1 {
		return nil
	}
	layout := journal.Offset(fmt.Sprint(layoutPrefix, w.workers))
	found, err := w.handler.Load(ctx, w.Name())
	if err == nil && found == "" {
		if err = w.handler.Save(ctx, w.Name(), "", layout); errors.Is(err, ErrMoved) { // another worker was faster
			found, err = w.handler.Load(ctx, w.Name())
		} else {
			found = layout
		}
	}
	if err == nil && found != layout {
		err = w.layoutError(found)
	}
	return err
}

func (w *worker[E]) layoutError(found journal.Offset) error {
	return fmt.Errorf("projection %q has %d workers, but what is stored under its name is %q: give it as many workers as it had, "+
		"or delete its offsets and all that it has made, and let it begin again", w.Name(), w.workers, found)
}
