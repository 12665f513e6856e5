// Package envelope is the stored form of a payload that a codec has encoded: a marker byte,
// the length and the text of the codec's name, and the encoded payload.
package envelope

import (
	"fmt"

	"github.com/understudy-go/understudy/persistence/journal"
)

// MaxName is the greatest length of the name of a codec, in bytes.
const MaxName = 32

// KeysMeta is the key of the metadata in which records have the keys of commands and the replies to
// them. Codecs encode it as they encode payloads. Its text is base64.
const KeysMeta = "understudy.once/1"

// marker is the first byte of an encoded payload. No CBOR value begins with it, so that a
// payload that was stored without a codec is recognised.
const marker = 0xff

// Seal returns data in an envelope with the name of the codec that has encoded it.
func Seal(name string, data []byte) []byte {
	stored := make([]byte, 0, 2+len(name)+len(data))
	stored = append(stored, marker, byte(len(name)))
	stored = append(stored, name...)
	return append(stored, data...)
}

// Has reports whether payload is in an envelope.
func Has(payload []byte) bool { return len(payload) > 0 && payload[0] == marker }

// Open returns the name of the codec, "" without an envelope, and the encoded payload. An
// envelope without a complete name is [journal.ErrCorrupt].
func Open(stored []byte) (name string, data []byte, err error) {
	if !Has(stored) {
		return "", stored, nil
	}
	if len(stored) < 2 || stored[1] == 0 || len(stored) < 2+int(stored[1]) {
		return "", nil, fmt.Errorf("%w: the payload has the marker of a codec, but no name", journal.ErrCorrupt)
	}
	end := 2 + int(stored[1])
	return string(stored[2:end]), stored[end:], nil
}

// Check returns [journal.ErrCodec] if payload is in an envelope: the journal that returned it
// has no codec.
func Check(payload []byte) error {
	if !Has(payload) {
		return nil
	}
	name, _, _ := Open(payload)
	return fmt.Errorf("%w: it was stored by %q, and the journal has no codec; see package persistence/codec", journal.ErrCodec, name)
}
