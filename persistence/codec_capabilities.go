package persistence

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// What a journal with a codec can be besides a journal. Named types, as their names are
// in error messages.
type (
	codecJournalS struct {
		*codecJournal
		codecSnapshots
	}
	codecJournalF struct {
		*codecJournal
		FloorClaimer
	}
	codecJournalE struct {
		*codecJournal
		codecEvents
	}
	codecJournalSF struct {
		*codecJournal
		codecSnapshots
		FloorClaimer
	}
	codecJournalSE struct {
		*codecJournal
		codecSnapshots
		codecEvents
	}
	codecJournalFE struct {
		*codecJournal
		FloorClaimer
		codecEvents
	}
	codecJournalSFE struct {
		*codecJournal
		codecSnapshots
		FloorClaimer
		codecEvents
	}
)

// withCapabilities returns j with codecs as what j is.
func withCapabilities(inner Journal, c *codecs) Journal {
	j := &codecJournal{inner, c}
	store, isStore := inner.(SnapshotStore)
	f, isFloored := inner.(FloorClaimer)
	reader, isReader := inner.(EventReader)
	s, e := codecSnapshots{store, c}, codecEvents{reader, c}
	switch {
	case isStore && isFloored && isReader:
		return codecJournalSFE{j, s, f, e}
	case isStore && isFloored:
		return codecJournalSF{j, s, f}
	case isStore && isReader:
		return codecJournalSE{j, s, e}
	case isFloored && isReader:
		return codecJournalFE{j, f, e}
	case isStore:
		return codecJournalS{j, s}
	case isFloored:
		return codecJournalF{j, f}
	case isReader:
		return codecJournalE{j, e}
	}
	return j
}

// codecSnapshots are the snapshots of a journal whose payloads are encoded.
type codecSnapshots struct {
	inner  SnapshotStore
	codecs *codecs
}

func (s codecSnapshots) SaveSnapshot(ctx context.Context, id string, snapshot Snapshot) (err error) {
	if snapshot.Payload, err = s.codecs.encode(placeOfSnapshot(id, &snapshot), snapshot.Payload); err != nil {
		return wrapOp("save snapshot", id, err)
	}
	return s.inner.SaveSnapshot(ctx, id, snapshot)
}

// LoadSnapshot passes over those that cannot be decoded, as stores do with damaged ones.
// One of another codec is an error: it would be as good as lost, and nobody would know.
func (s codecSnapshots) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (_ Snapshot, ok bool, skipped []uint64, err error) {
	for {
		snapshot, ok, more, err := s.inner.LoadSnapshot(ctx, id, maxSeq)
		skipped = append(skipped, more...)
		if err != nil || !ok {
			return Snapshot{}, false, skipped, err
		}
		payload, err := s.codecs.decode(placeOfSnapshot(id, &snapshot), snapshot.Payload)
		if err == nil {
			snapshot.Payload = payload
			return snapshot, true, skipped, nil
		}
		if !errors.Is(err, ErrCorrupt) {
			return Snapshot{}, false, skipped, wrapOp("load snapshot", id, fmt.Errorf("snapshot %d: %w", snapshot.Seq, err))
		}
		skipped = append(skipped, snapshot.Seq)
		if snapshot.Seq == 0 {
			return Snapshot{}, false, skipped, nil
		}
		maxSeq = snapshot.Seq - 1
	}
}

func (s codecSnapshots) DeleteSnapshots(ctx context.Context, id string, epoch, seq uint64, keep int) error {
	return s.inner.DeleteSnapshots(ctx, id, epoch, seq, keep)
}

func (s codecSnapshots) Snapshots(ctx context.Context, id string) ([]uint64, error) {
	return s.inner.Snapshots(ctx, id)
}

func placeOfSnapshot(id string, s *Snapshot) Place {
	return Place{ID: id, Seq: s.Seq, Epoch: s.Epoch, Type: s.Type, Snapshot: true}
}

// codecEvents are the events of all ids of a journal whose payloads are encoded.
type codecEvents struct {
	inner  EventReader
	codecs *codecs
}

// Appended passes on the hints of the journal, if it gives any.
func (r codecEvents) Appended() <-chan struct{} {
	if waker, ok := r.inner.(Waker); ok {
		return waker.Appended()
	}
	return nil
}

func (r codecEvents) Events(ctx context.Context, q Query, after Offset) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for entry, err := range r.inner.Events(ctx, q, after) {
			if err == nil {
				err = wrapOp("read events", entry.ID, r.codecs.decodeRecord(entry.ID, &entry.Record))
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}
