package codec

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/understudy-go/understudy/persistence/internal/envelope"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Wrap returns a journal that stores the payloads of events, snapshots and timers in inner, encoded
// by c. It reads what c or one of the former codecs has encoded. The result keeps snapshots and
// timers, reads events across persistence ids, forgets ids and retains events for readers if inner
// does; see [journal.As]; otherwise these methods return [errors.ErrUnsupported]. Closing the
// result closes inner.
//
// Reading a payload that another codec has encoded fails with [journal.ErrCodec], which names that
// codec. Reading a payload that cannot be decoded fails with [journal.ErrCorrupt]; a snapshot that
// cannot be decoded is skipped.
//
// Wrap panics if inner or a codec is nil, if a name is too long, or if two names are equal.
func Wrap(inner journal.Journal, c Codec, former ...Codec) journal.Journal {
	if inner == nil {
		panic("persistence: a codec for a journal that is nil")
	}
	s := codecs{current: c, byName: map[string]Codec{}}
	for _, c := range append([]Codec{c}, former...) {
		if c == nil {
			panic("persistence: a codec that is nil")
		}
		name := c.Name()
		if len(name) > envelope.MaxName || s.byName[name] != nil || name == "" && c != Plain {
			panic(fmt.Sprintf("persistence: the name of codec %T, %q, is empty, too long or there twice", c, name))
		}
		s.byName[name] = c
	}
	store, _ := inner.(journal.SnapshotStore)
	reader, _ := inner.(journal.EventReader)
	timers, _ := inner.(journal.TimerStore)
	forgetter, _ := inner.(journal.Forgetter)
	retainer, _ := inner.(journal.Retainer)
	return &wrapper{inner, store, reader, timers, forgetter, retainer, &s}
}

// A wrapper is a journal whose payloads are encoded. The inner journal handles deletions and Close.
type wrapper struct {
	journal.Journal
	store  journal.SnapshotStore // nil if the inner journal keeps no snapshots
	reader journal.EventReader   // nil if the inner journal does not implement it
	timers journal.TimerStore    // nil if the inner journal keeps no timers
	forget journal.Forgetter     // nil if the inner journal cannot forget
	retain journal.Retainer      // nil if deletions of the inner journal do not wait for readers
	codecs *codecs
}

var (
	_ journal.Wrapper       = (*wrapper)(nil)
	_ journal.SnapshotStore = (*wrapper)(nil)
	_ journal.EventReader   = (*wrapper)(nil)
	_ journal.TimerStore    = (*wrapper)(nil)
	_ journal.Forgetter     = (*wrapper)(nil)
	_ journal.Retainer      = (*wrapper)(nil)
)

func (w *wrapper) Unwrap() journal.Journal { return w.Journal }

// Claim leaves timers that cannot be decoded to Timers, which says why.
func (w *wrapper) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	c, err := w.Journal.Claim(ctx, id, writer, b)
	if w.decodeTimers(id, c.Timers) != nil {
		c.Timers, c.TimersKnown = nil, false
	}
	return c, err
}

// Append forwards the requests that can be encoded in one call, so that they are committed
// together.
func (w *wrapper) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := make([]error, len(reqs))
	encoded := make([]journal.AppendRequest, 0, len(reqs))
	for i := range reqs {
		req, err := w.encode(&reqs[i])
		if errs[i] = wrapOp("append", reqs[i].ID, err); err == nil {
			encoded = append(encoded, req)
		}
	}
	if len(encoded) == 0 {
		return errs
	}
	results := w.Journal.Append(ctx, encoded)
	for i := range errs {
		if errs[i] == nil {
			errs[i], results = results[0], results[1:]
		}
	}
	return errs
}

func (w *wrapper) encode(req *journal.AppendRequest) (journal.AppendRequest, error) {
	encoded := *req
	encoded.Records = slices.Clone(req.Records)
	for i := range encoded.Records {
		r := &encoded.Records[i]
		payload, err := w.codecs.encode(idOfRecord(req.ID, r), r.Payload)
		if err != nil {
			return journal.AppendRequest{}, err
		}
		r.Payload = payload
		if r.Meta, err = w.encodeKeys(req.ID, r); err != nil {
			return journal.AppendRequest{}, err
		}
	}
	var err error
	encoded.Timers, err = w.encodeTimers(req.ID, req.Timers)
	return encoded, err
}

func (w *wrapper) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return decoded(w.Journal.Read(ctx, id, from, to), func(r *journal.Record) error {
		return wrapOp("read", id, w.decodeRecord(id, r))
	})
}

func (w *wrapper) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	if w.reader == nil {
		return func(yield func(journal.Entry, error) bool) { yield(journal.Entry{}, unsupported("read events")) }
	}
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range w.reader.Events(ctx, q, after) {
			if err == nil && !e.Forgotten() {
				err = wrapOp("read events", e.ID, w.decodeRecord(e.ID, &e.Record))
			}
			if err != nil && !errors.Is(err, journal.ErrCorrupt) {
				e = journal.Entry{} // it is the program that lacks something
			}
			if !yield(e, err) || err != nil && e.Offset == "" {
				return
			}
		}
	}
}

func (w *wrapper) Appended() <-chan struct{} {
	if w.reader == nil {
		return nil
	}
	return w.reader.Appended()
}

// decoded yields the elements of seq after decode, up to the first error.
func decoded[T any](seq iter.Seq2[T, error], decode func(*T) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if err == nil {
				err = decode(&v)
			}
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

func (w *wrapper) decodeRecord(id string, r *journal.Record) error {
	payload, shredded, err := w.codecs.decode(idOfRecord(id, r), r.Payload)
	if err != nil {
		return fmt.Errorf("record %d: %w", r.Seq, err)
	}
	if err := w.decodeKeys(id, r); err != nil {
		return fmt.Errorf("the keys of commands in record %d: %w", r.Seq, err)
	}
	r.Payload, r.Shredded = payload, shredded
	return nil
}

func (w *wrapper) SaveSnapshot(ctx context.Context, id string, s journal.Snapshot) (err error) {
	if w.store == nil {
		return unsupported("save snapshot")
	}
	if s.Payload, err = w.codecs.encode(idOfSnapshot(id, &s), s.Payload); err != nil {
		return wrapOp("save snapshot", id, err)
	}
	return w.store.SaveSnapshot(ctx, id, s)
}

// LoadSnapshot skips snapshots that cannot be decoded, as stores skip damaged ones. A snapshot
// of another codec is an error: skipping it would hide that a key is missing.
func (w *wrapper) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (_ journal.Snapshot, ok bool, skipped []uint64, err error) {
	if w.store == nil {
		return journal.Snapshot{}, false, nil, unsupported("load snapshot")
	}
	for {
		s, ok, more, err := w.store.LoadSnapshot(ctx, id, maxSeq)
		skipped = append(skipped, more...)
		if err != nil || !ok {
			return journal.Snapshot{}, false, skipped, err
		}
		payload, shredded, err := w.codecs.decode(idOfSnapshot(id, &s), s.Payload)
		if err == nil {
			s.Payload, s.Shredded = payload, shredded
			return s, true, skipped, nil
		}
		if !errors.Is(err, journal.ErrCorrupt) {
			return journal.Snapshot{}, false, skipped, wrapOp("load snapshot", id, fmt.Errorf("snapshot %d: %w", s.Seq, err))
		}
		skipped = append(skipped, s.Seq)
		if s.Seq == 0 {
			return journal.Snapshot{}, false, skipped, nil
		}
		maxSeq = s.Seq - 1
	}
}

func (w *wrapper) DeleteSnapshots(ctx context.Context, id string, epoch, seq uint64, keep int) error {
	if w.store == nil {
		return unsupported("delete snapshots")
	}
	return w.store.DeleteSnapshots(ctx, id, epoch, seq, keep)
}

func (w *wrapper) Snapshots(ctx context.Context, id string) ([]uint64, error) {
	if w.store == nil {
		return nil, unsupported("list snapshots")
	}
	return w.store.Snapshots(ctx, id)
}

func (w *wrapper) Forget(ctx context.Context, id string) error {
	if w.forget == nil {
		return unsupported("forget")
	}
	return w.forget.Forget(ctx, id)
}

func (w *wrapper) Revive(ctx context.Context, id string) error {
	if w.forget == nil {
		return unsupported("revive")
	}
	return w.forget.Revive(ctx, id)
}

func idOfRecord(id string, r *journal.Record) PayloadID {
	return PayloadID{ID: id, Seq: r.Seq, Epoch: r.Epoch, Type: r.Type, Tags: r.Tags}
}

func idOfSnapshot(id string, s *journal.Snapshot) PayloadID {
	return PayloadID{ID: id, Seq: s.Seq, Epoch: s.Epoch, Type: s.Type, Snapshot: true}
}

func unsupported(op string) error {
	return fmt.Errorf("%s: the journal inside the codec: %w", op, errors.ErrUnsupported)
}

func wrapOp(op, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", op, id, err)
}
