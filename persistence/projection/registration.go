package projection

import (
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

// registerEvery is how often a worker tells the journal how far it has read.
const registerEvery = 10 * time.Second

// A registration is what the journal knows of a worker.
type registration struct {
	once  bool                      // the worker catches up once, and ends
	last  time.Time                 // when the journal was told
	told  bool                      // it knows how far the worker has read
	known journal.Offset            // that far
	held  map[string]journal.Offset // the readers that are registered for ids that are held back, by name
}

func retainerOf(reader journal.EventReader) journal.Retainer {
	j, ok := reader.(journal.Journal)
	if !ok {
		return nil
	}
	r, _ := journal.As[journal.Retainer](j)
	return r
}

func (w *worker[E]) isDue() bool {
	return w.journal != nil && time.Since(w.registration.last) >= registerEvery
}

// begin registers the worker at its stored offset, and removes what an earlier one has left.
func (w *worker[E]) begin(ctx context.Context) error {
	if w.journal == nil {
		return nil
	}
	all, err := w.journal.Readers(ctx)
	if err != nil {
		return err
	}
	r := registration{once: w.registration.once, held: map[string]journal.Offset{}}
	for _, reader := range all {
		if strings.HasPrefix(reader.Name, w.heldName()+"/") {
			r.held[reader.Name] = reader.Offset
		}
	}
	w.registration = r
	return w.register(ctx, w.offset)
}

// end returns an offset up to which all is handled once a read that begins now has ended; "" if the
// journal need not be told.
func (w *worker[E]) end(ctx context.Context) (journal.Offset, error) {
	if w.journal == nil || !w.registration.once && !w.isDue() {
		return "", nil
	}
	return w.journal.End(ctx)
}

// register tells the journal that the events up to an offset are handled, except those of ids that
// are held back. Their readers come first, and are removed last.
func (w *worker[E]) register(ctx context.Context, to journal.Offset) error {
	r := &w.registration
	now := time.Now()
	held := map[string]bool{}
	for _, h := range w.held.list() {
		if h.released {
			continue
		}
		name, slice := w.heldReader(h.ID), journal.SliceOf(h.ID)
		held[name] = true
		if at, known := r.held[name]; known && at == h.before {
			continue
		}
		reader := journal.Reader{Name: name, Slices: journal.SliceRange{From: slice, To: slice + 1}, Offset: h.before, Time: now}
		if err := w.journal.SaveReader(ctx, reader); err != nil {
			return err
		}
		r.held[name] = h.before
	}
	if !r.told || to != r.known {
		if err := w.journal.SaveReader(ctx, journal.Reader{Name: w.name, Slices: w.query.Slices, Offset: to, Time: now}); err != nil {
			return err
		}
		r.told, r.known = true, to
	}
	for name := range r.held {
		if held[name] {
			continue
		}
		if err := w.journal.RemoveReader(ctx, name); err != nil {
			return err
		}
		delete(r.held, name)
	}
	r.last = now
	return nil
}

// heldReader returns the name of the reader of an id that is held back.
func (w *worker[E]) heldReader(id string) string {
	name := w.heldOffsetName(id)
	if len(name) <= journal.MaxIDLength {
		return name
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(id)) // never fails
	return fmt.Sprintf("%s/%x", w.heldName(), hash.Sum64())
}

// restOfReader is what follows the name of a projection in the names of its readers. It is a number
// for each of several workers, and the ids that are held back. A projection named "sales/europe" is
// another one than "sales".
var restOfReader = regexp.MustCompile(`^(/\d+)?(/held/.*)?$`)

// Unregister removes the registration of a projection: deletions no longer keep events that it has
// not read. Call it when nobody runs the projection any more; one that runs with the option
// [Registered] registers again. A name that is not registered is left alone. It fails if j is no
// [journal.Retainer].
func Unregister(ctx context.Context, j journal.Journal, name string) error {
	r, ok := journal.As[journal.Retainer](j)
	if !ok {
		return fmt.Errorf("projection: unregister %q: %w: a %T keeps no events for readers", name, journal.ErrInvalid, j)
	}
	all, err := r.Readers(ctx)
	for _, reader := range all {
		rest, is := strings.CutPrefix(reader.Name, name)
		if err == nil && is && restOfReader.MatchString(rest) {
			err = r.RemoveReader(ctx, reader.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("projection: unregister %q: %w", name, err)
	}
	return nil
}
