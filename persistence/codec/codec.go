package codec

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/persistence/internal/envelope"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Codec encodes payloads before they are stored and decodes them when they are read: it
// encrypts or compresses them, for example. See [Wrap]. Its methods may be called from any
// goroutine; they neither keep nor change their arguments.
type Codec interface {
	// Name is stored with each payload and selects the codec that decodes it: 1 to 32 bytes
	// that never change. A codec with another format needs another name.
	Name() string

	// Encode must be deterministic: the same payload with the same id always becomes the same
	// bytes. A writer that has lost an answer sends its request again, and the journal compares
	// it with what is stored. Encode must therefore not use random numbers or the time.
	Encode(id PayloadID, payload []byte) ([]byte, error)

	// Decode returns the payload. An error means that data is damaged and is reported as
	// [journal.ErrCorrupt], unless it wraps [journal.ErrCodec] or [journal.ErrUnavailable]. With
	// [ErrForgotten] the payload is read as shredded, see [journal.Record].
	Decode(id PayloadID, data []byte) ([]byte, error)
}

// A PayloadID identifies a payload. It is the same for writing and reading, so that a codec can
// bind the encoded payload to it.
type PayloadID struct {
	ID       string // the persistence id
	Seq      uint64 // of the event, or of the last event in the snapshot; of a timer, its attempt
	Epoch    uint64 // of the claim under which the payload was written; 0 for a timer
	Type     string // the registered name of the payload's type
	Snapshot bool   // true for a snapshot, false for an event or a timer

	Timer string    // the key of the timer, "" for an event or a snapshot
	Due   time.Time // of the timer, in UTC

	Tags []string // of an event, in the order in which they are stored

	// Keys is true for the keys of commands and the replies to them, see persistence.Once. They are
	// stored with an event, which has the same PayloadID otherwise.
	Keys bool
}

// Plain is the codec that changes nothing and stores no name. As a former codec of [Wrap] it
// reads payloads that were stored without a codec.
var Plain Codec = plain{}

type plain struct{}

func (plain) Name() string { return "" }

// Encode refuses a payload that looks as if a codec had encoded it; CBOR never does.
func (plain) Encode(_ PayloadID, payload []byte) ([]byte, error) {
	if envelope.Has(payload) {
		return nil, errors.New("the payload is not CBOR")
	}
	return payload, nil
}

func (plain) Decode(_ PayloadID, data []byte) ([]byte, error) { return data, nil }

type codecs struct {
	current Codec
	byName  map[string]Codec // for reading
}

func (s *codecs) encode(id PayloadID, payload []byte) ([]byte, error) {
	name := s.current.Name()
	data, err := s.current.Encode(id, payload)
	switch {
	case err == nil:
	case errors.Is(err, ErrForgotten), errors.Is(err, journal.ErrUnavailable):
		return nil, fmt.Errorf("codec %q cannot encode: %w", name, err)
	default:
		return nil, fmt.Errorf("%w: codec %q cannot encode: %w", journal.ErrInvalid, name, err)
	}
	if name == "" {
		return data, nil
	}
	return envelope.Seal(name, data), nil
}

// decode sets shredded in place of an error with ErrForgotten.
func (s *codecs) decode(id PayloadID, stored []byte) (payload []byte, shredded bool, err error) {
	name, data, err := envelope.Open(stored)
	if err != nil {
		return nil, false, err
	}
	c := s.byName[name]
	if c == nil {
		return nil, false, missing(name, s.current.Name())
	}
	payload, err = c.Decode(id, data)
	switch {
	case err == nil:
		return payload, false, nil
	case errors.Is(err, ErrForgotten):
		return nil, true, nil
	case errors.Is(err, journal.ErrCodec), errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrUnavailable):
		return nil, false, err
	}
	return nil, false, fmt.Errorf("%w: codec %q: %w", journal.ErrCorrupt, name, err)
}

func missing(stored, current string) error {
	if stored == "" {
		return fmt.Errorf("%w: it was stored without a codec, before there was %q; give codec.Wrap Plain as a former codec", journal.ErrCodec, current)
	}
	return fmt.Errorf("%w: it was stored by %q, and the journal writes with %q; give codec.Wrap the other as a former codec", journal.ErrCodec, stored, current)
}
