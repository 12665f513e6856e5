package projection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/persistence/journal"
)

// maxHeld is how many persistence ids one worker holds back. One more stops the worker.
const maxHeld = 1000

// A held is a persistence id whose events are held back, from the first that could not be decoded.
// The fields with JSON names are stored.
type held struct {
	ID   string `json:"id"`
	From uint64 `json:"from"` // the sequence number of that event
	Last uint64 `json:"last"` // the sequence number of the last event that was passed over meanwhile

	released bool  // all events up to Last are handled; later events are handled normally
	passed   bool  // the worker has met an event after Last since then
	err      error // why it is held back, an [*EventError]

	before journal.Offset // its events up to here are handled
}

// heldIDs are the ids that a worker holds back. They are stored under the name of its offset
// followed by "/held", before the offset moves past their events. The progress of each id is a
// separate offset, under that name followed by "/" and the id.
type heldIDs struct {
	byID   map[string]*held
	stored journal.Offset // the stored list
}

func (w *worker[E]) heldName() string { return w.name + "/held" }

func (w *worker[E]) heldOffsetName(id string) string { return w.heldName() + "/" + id }

// A projection without an offset holds back no ids.
func (w *worker[E]) loadHeld(ctx context.Context) error {
	stored, err := w.handler.Load(ctx, w.heldName())
	if err != nil {
		return err
	}
	w.held = heldIDs{byID: map[string]*held{}, stored: stored}
	if stored == "" || w.offset == "" {
		return nil
	}
	list, err := decodeHeld(stored)
	if err != nil {
		return fmt.Errorf("projection %q: the persistence ids that it holds back, stored as the offset %q: %w", w.name, w.heldName(), err)
	}
	for _, h := range list {
		w.held.byID[h.ID] = h
	}
	return nil
}

func (h *heldIDs) list() []*held {
	list := make([]*held, 0, len(h.byID))
	for _, id := range slices.Sorted(maps.Keys(h.byID)) {
		list = append(list, h.byID[id])
	}
	return list
}

func (w *worker[E]) saveHeld(ctx context.Context) error {
	if len(w.held.byID) == 0 && w.held.stored == "" {
		return nil
	}
	list, err := encodeHeld(w.held.list())
	if err != nil {
		return err
	}
	if list == w.held.stored {
		return nil
	}
	if err := w.handler.Save(ctx, w.heldName(), w.held.stored, list); err != nil {
		return err
	}
	w.held.stored = list
	return nil
}

// hold holds back the events of an id from entry on. entry is the next one after the offset.
func (w *worker[E]) hold(ctx context.Context, entry *journal.Entry, reason error) error {
	if len(w.held.byID) >= maxHeld {
		return fmt.Errorf("the events of %d persistence ids are held back already: %w", maxHeld, reason)
	}
	name := w.heldOffsetName(entry.ID)
	found, err := w.handler.Load(ctx, name)
	if err != nil {
		return err
	}
	if found != w.offset {
		if w.offset == "" {
			return fmt.Errorf("projection %q begins anew, and there is an offset %q of its former life: delete all whose names begin with %q", w.name, name, w.name+"/")
		}
		if err := w.handler.Save(ctx, name, found, w.offset); err != nil {
			return err
		}
	}
	seq := entry.Record.Seq
	w.held.byID[entry.ID] = &held{ID: entry.ID, From: seq, Last: seq, err: reason, before: w.offset}
	w.log.Error("events of a persistence id are held back: one of them cannot be read", zap.String("projection", w.name),
		zap.String("id", entry.ID), zap.Uint64("seq", seq), zap.String("offset", string(entry.Offset)), zap.Error(reason))
	w.reportHeld()
	return nil
}

// passesOver reports whether entry must not be handled now, because its id is held back or because
// it was handled when the id was released.
func (w *worker[E]) passesOver(entry *journal.Entry) bool {
	h := w.held.byID[entry.ID]
	switch {
	case h == nil:
		return false
	case entry.Record.Seq <= h.Last:
		return true
	case h.released:
		h.passed = true
		return false
	}
	h.Last = entry.Record.Seq
	w.reportHeld()
	return true
}

// forgetReleased drops released ids once the offset has moved past all events that were handled at
// their release.
func (w *worker[E]) forgetReleased() {
	maps.DeleteFunc(w.held.byID, func(_ string, h *held) bool { return h.released && h.passed })
}

// release handles the events of all ids that are held back, up to the first of each that
// still cannot be decoded.
func (w *worker[E]) release(ctx context.Context) error {
	defer w.reportHeld()
	for _, h := range w.held.list() {
		if err := w.releaseOne(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker[E]) releaseOne(ctx context.Context, h *held) error {
	name := w.heldOffsetName(h.ID)
	offset, err := w.handler.Load(ctx, name)
	if err != nil {
		return err
	}
	h.before = offset
	query, slice := w.query, journal.SliceOf(h.ID)
	query.Slices = journal.SliceRange{From: slice, To: slice + 1}
	for entry, err := range w.reader.Events(ctx, query, offset) {
		if err != nil && entry.Offset == "" {
			return err
		}
		if entry.ID != h.ID {
			continue
		}
		if entry.Forgotten() {
			return nil // the worker is before it, and releases the id when it comes there
		}
		if entry.Record.Seq > h.Last {
			break
		}
		b := &Batch[E]{Name: name, After: offset, To: entry.Offset, Within: w.within}
		if b.Events, err = decode(w.system, &entry, err, w.adapt); err != nil && !w.skipsHeld(err) {
			h.From, h.err = entry.Record.Seq, err
			return nil
		}
		if err := w.handleHeld(ctx, b); err != nil {
			return err
		}
		offset = entry.Offset
		h.before = offset
	}
	h.released = true
	w.log.Info("events of a persistence id that were held back are handled", zap.String("projection", w.name), zap.String("id", h.ID), zap.Uint64("seq", h.Last))
	return nil
}

// skipsHeld reports whether an event that cannot be decoded is passed over for good, and
// counts it.
func (w *worker[E]) skipsHeld(err error) bool {
	switch {
	case w.skipOthers && isOther(err):
		w.report.update(func(s *WorkerStatus) { s.Skipped++ })
	case w.skipAfter > 0:
		w.skipped(err)
	default:
		return false
	}
	return true
}

func (w *worker[E]) handleHeld(ctx context.Context, b *Batch[E]) error {
	n := len(b.Events)
	reached, err := w.handle(ctx, b)
	switch {
	case err == nil && reached == b.To:
		w.report.update(func(s *WorkerStatus) { s.Handled += uint64(n) })
		return nil
	case err == nil:
		return fmt.Errorf("projection %q: the handler has neither moved the offset nor failed", w.name)
	case !w.givesUp(err):
		return err
	}
	if failure := w.handler.Save(ctx, b.Name, b.After, b.To); failure != nil {
		return errors.Join(failure, err)
	}
	w.skipped(err)
	return nil
}

func (w *worker[E]) heldError() error {
	var errs []error
	for _, h := range w.held.list() {
		if !h.released {
			errs = append(errs, h.err)
		}
	}
	return errors.Join(errs...)
}

func (w *worker[E]) reportHeld() {
	var all []HeldID
	for _, h := range w.held.list() {
		if !h.released {
			all = append(all, HeldID{ID: h.ID, From: h.From, Last: h.Last, Failure: fmt.Sprint(h.err)})
		}
	}
	w.report.update(func(s *WorkerStatus) { s.Held = all })
}

// heldVersion is the version of the stored form of the ids that a worker holds back. An older
// program refuses a newer one, because it would skip or repeat events.
const heldVersion = 1

// A heldList is that form, in JSON. The key "v" stays in every version.
type heldList struct {
	Version int     `json:"v"`
	IDs     []*held `json:"ids"`
}

func encodeHeld(ids []*held) (journal.Offset, error) {
	text, err := json.Marshal(heldList{heldVersion, ids})
	return journal.Offset(text), err
}

func decodeHeld(stored journal.Offset) ([]*held, error) {
	var form struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal([]byte(stored), &form); err != nil {
		return nil, fmt.Errorf("%q is no such list: %w", stored, err)
	}
	switch {
	case form.Version > heldVersion:
		return nil, fmt.Errorf("the list has version %d, this program knows %d; use a newer build of the program", form.Version, heldVersion)
	case form.Version < 1:
		return nil, fmt.Errorf("%q is no such list: it has no version", stored)
	}
	var list heldList
	if err := json.Unmarshal([]byte(stored), &list); err != nil {
		return nil, fmt.Errorf("%q is no such list: %w", stored, err)
	}
	return list.IDs, nil
}
