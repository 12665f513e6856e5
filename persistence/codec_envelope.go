package persistence

import (
	"errors"
	"fmt"
)

const (
	// codecMark is the first byte of what a codec has encoded. No CBOR value begins with
	// it, so what was stored without a codec is told from it.
	codecMark    = 0xff
	maxCodecName = 32
)

// codecs are those of one journal.
type codecs struct {
	current Codec
	byName  map[string]Codec // to read
}

// encode returns payload as it is stored: the mark, the name, and what the codec made.
func (s *codecs) encode(at Place, payload []byte) ([]byte, error) {
	data, err := s.current.Encode(at, payload)
	if err != nil {
		return nil, fmt.Errorf("%w: codec %q cannot encode: %w", ErrInvalid, s.current.Name(), err)
	}
	name := s.current.Name()
	if name == "" {
		return data, nil
	}
	stored := make([]byte, 0, 2+len(name)+len(data))
	stored = append(stored, codecMark, byte(len(name)))
	stored = append(stored, name...)
	return append(stored, data...), nil
}

// decode returns the payload that became stored.
func (s *codecs) decode(at Place, stored []byte) ([]byte, error) {
	name, data, ok := openEnvelope(stored)
	if !ok {
		return nil, fmt.Errorf("%w: the mark of a codec, but no name", ErrCorrupt)
	}
	c := s.byName[name]
	if c == nil {
		return nil, codecMissing(name, s.current.Name())
	}
	payload, err := c.Decode(at, data)
	switch {
	case err == nil, errors.Is(err, ErrCodec), errors.Is(err, ErrCorrupt):
		return payload, err
	}
	return nil, fmt.Errorf("%w: codec %q: %w", ErrCorrupt, name, err)
}

func (s *codecs) decodeRecord(id string, r *Record) error {
	payload, err := s.decode(placeOf(id, r), r.Payload)
	if err != nil {
		return fmt.Errorf("record %d: %w", r.Seq, err)
	}
	r.Payload = payload
	return nil
}

// openEnvelope returns the name of the codec, "" for none, and what it has made.
func openEnvelope(stored []byte) (name string, data []byte, ok bool) {
	if len(stored) == 0 || stored[0] != codecMark {
		return "", stored, true
	}
	if len(stored) < 2 || stored[1] == 0 || len(stored) < 2+int(stored[1]) {
		return "", nil, false
	}
	end := 2 + int(stored[1])
	return string(stored[2:end]), stored[end:], true
}

// codecMissing says what a journal lacks to read what is stored.
func codecMissing(stored, current string) error {
	if stored == "" {
		return fmt.Errorf("%w: it was stored without a codec, before there was %q; give WithCodec Plain as a former one", ErrCodec, current)
	}
	return fmt.Errorf("%w: it was stored by %q, and the journal writes with %q; give WithCodec the other as a former one", ErrCodec, stored, current)
}

// checkEncoded returns [ErrCodec] when payload is the work of a codec that the journal
// does not have.
func checkEncoded(payload []byte) error {
	if len(payload) == 0 || payload[0] != codecMark {
		return nil
	}
	name, _, _ := openEnvelope(payload)
	return fmt.Errorf("%w: it was stored by %q, and the journal has no codec; see WithCodec", ErrCodec, name)
}
