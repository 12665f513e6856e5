// Package json encodes messages, events and states as JSON in place of CBOR, for journals that
// people and other programs read:
//
//	actor.RegisterType[Placed]("shop.placed", actor.WithCodec(json.Codec{}))
//
// This package is experimental: a minor release may change it.
//
// The package encoding/json does the work, so its tags and methods count. What it would change
// without an error is refused, see [Codec].
package json

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
)

// A Codec encodes values as JSON. Its name in data is "json". Pass it to [actor.WithCodec].
//
// Fields with the tag `json:"-"` are decoded as zero, and unknown fields in data are ignored.
// Marshal refuses strings that are not UTF-8, which encoding/json would replace.
//
// [actor.WithCodec]: https://pkg.go.dev/github.com/understudy-go/understudy/actor#WithCodec
type Codec struct{}

// Name returns "json".
func (Codec) Name() string { return "json" }

var errUTF8 = errors.New("a string is not UTF-8; use []byte for other bytes")

// Marshal returns v as JSON.
func (Codec) Marshal(v any) ([]byte, error) {
	data, err := stdjson.Marshal(v)
	if err == nil && hasReplacement(data) {
		return nil, errUTF8
	}
	return data, err
}

// Only what is not UTF-8 is escaped so. The backslash of an escape has an even number of them
// before it.
func hasReplacement(data []byte) bool {
	const replacement = `\ufffd`
	for {
		i := bytes.Index(data, []byte(replacement))
		if i < 0 {
			return false
		}
		before := data[:i]
		if escapes := len(before) - len(bytes.TrimRight(before, `\`)); escapes%2 == 0 {
			return true
		}
		data = data[i+len(replacement):]
	}
}

// Unmarshal decodes data, which must be one JSON value, into the variable that into points to.
func (Codec) Unmarshal(data []byte, into any) error { return stdjson.Unmarshal(data, into) }
