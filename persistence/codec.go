package persistence

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// ErrCodec says that what is stored was encoded by a codec, or with a key, that the
// journal has not been given. It may be perfectly sound.
var ErrCodec = errors.New("persistence: stored by another codec")

// A Codec changes the payloads of a journal on their way in, and back on their way out:
// it encrypts them, say, or makes them smaller. See [WithCodec]. Its methods may be called
// from any goroutine; they neither keep nor change what they are given.
type Codec interface {
	// Name is stored with each payload, so that it is known again: 1 to 32 bytes, the same
	// for ever. A codec that works in another way has another name.
	Name() string

	// Encode must be deterministic: the same payload at the same place becomes the same
	// bytes, however often. A writer that has not had an answer sends its request again,
	// and the journal compares what it has with what comes. So no chance and no clock.
	Encode(at Place, payload []byte) ([]byte, error)

	// Decode returns the payload. An error means that data is damaged, and is reported as
	// [ErrCorrupt], unless it wraps [ErrCodec].
	Decode(at Place, data []byte) ([]byte, error)
}

// A Place says what a payload belongs to. It is the same when it is written and when it is
// read, so that a codec can bind the two together.
type Place struct {
	ID       string // the persistence id
	Seq      uint64 // of the event; of the last one that is in the snapshot
	Epoch    uint64 // the claim under which it was written
	Type     string // the registered name of the payload's type
	Snapshot bool   // of a snapshot, not of an event
}

// Plain is the codec that changes nothing, and leaves no name. Given to [WithCodec] as a
// former one it lets records be read that were stored without a codec.
var Plain Codec = plain{}

type plain struct{}

func (plain) Name() string { return "" }

// Encode refuses what could be taken for the work of another codec; CBOR never is.
func (plain) Encode(_ Place, payload []byte) ([]byte, error) {
	if len(payload) > 0 && payload[0] == codecMark {
		return nil, errors.New("the payload is not CBOR")
	}
	return payload, nil
}

func (plain) Decode(_ Place, data []byte) ([]byte, error) { return data, nil }

// WithCodec returns j with payloads of events and of snapshots that c has encoded. What
// was stored by one of the former codecs is read as well, but not written. Whatever else j
// can do, the result can: it is a [SnapshotStore], a [FloorClaimer] or an [EventReader]
// exactly when j is one. It owns j: closing it closes j.
//
// A payload that no codec of these has encoded is [ErrCodec], with the name of the one
// that did: nothing is guessed. One that cannot be decoded is [ErrCorrupt]; a snapshot,
// however, is passed over then.
//
// It panics when j or a codec is nil, a name is too long, or two are the same.
func WithCodec(j Journal, c Codec, former ...Codec) Journal {
	if j == nil {
		panic("persistence: a codec for a journal that is nil")
	}
	s := codecs{current: c, byName: map[string]Codec{}}
	for _, c := range append([]Codec{c}, former...) {
		if c == nil {
			panic("persistence: a codec that is nil")
		}
		name := c.Name()
		if len(name) > maxCodecName || s.byName[name] != nil || name == "" && c != Plain {
			panic(fmt.Sprintf("persistence: the name of codec %T, %q, is empty, too long or there twice", c, name))
		}
		s.byName[name] = c
	}
	return withCapabilities(j, &s)
}

// codecJournal is a journal whose payloads are encoded.
type codecJournal struct {
	inner  Journal
	codecs *codecs
}

func (j *codecJournal) Claim(ctx context.Context, id string, writer WriterID) (Claim, error) {
	return j.inner.Claim(ctx, id, writer)
}

// Append passes on what can be encoded, as one call, so that it is committed together.
func (j *codecJournal) Append(ctx context.Context, reqs []AppendRequest) []error {
	errs := make([]error, len(reqs))
	encoded := make([]AppendRequest, 0, len(reqs))
	for i := range reqs {
		req, err := j.encode(&reqs[i])
		if errs[i] = wrapOp("append", reqs[i].ID, err); err == nil {
			encoded = append(encoded, req)
		}
	}
	results := j.inner.Append(ctx, encoded)
	for i := range errs {
		if errs[i] == nil {
			errs[i], results = results[0], results[1:]
		}
	}
	return errs
}

func (j *codecJournal) encode(req *AppendRequest) (AppendRequest, error) {
	encoded := *req
	encoded.Records = slices.Clone(req.Records)
	for i := range encoded.Records {
		r := &encoded.Records[i]
		payload, err := j.codecs.encode(placeOf(req.ID, r), r.Payload)
		if err != nil {
			return AppendRequest{}, err
		}
		r.Payload = payload
	}
	return encoded, nil
}

func (j *codecJournal) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for r, err := range j.inner.Read(ctx, id, from, to) {
			if err == nil {
				err = wrapOp("read", id, j.codecs.decodeRecord(id, &r))
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (j *codecJournal) DeleteTo(ctx context.Context, id string, epoch, seq uint64) error {
	return j.inner.DeleteTo(ctx, id, epoch, seq)
}

func (j *codecJournal) Close() error { return j.inner.Close() }

func placeOf(id string, r *Record) Place {
	return Place{ID: id, Seq: r.Seq, Epoch: r.Epoch, Type: r.Type}
}

func wrapOp(op, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", op, id, err)
}
