// Package metadata has the small values that travel beside a message, such as the context of a
// trace. They are encoded as a CBOR map whose keys are small integers. On the wire the map is the
// content of a byte string, so that a reader can pass over what it cannot read.
package metadata

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/internal/codec"
)

// A Key identifies a value. A key is never used for something else, as nodes of other releases may
// still mean the former value. Keys below 1000 are for this module, and all that are in use stand
// here; extensions of others use greater ones.
type Key uint64

// The keys of this module.
const (
	Trace Key = 1 // the context of a trace
	Codec Key = 2 // how the message is encoded, if not as CBOR
	// LinkedTrace is the context of a trace that has led to the message. The message does not
	// continue that trace.
	LinkedTrace Key = 3
	// Left is how much time the ask of the message has left, see [Request]: an integer of 16 bits,
	// m<<4|e for m<<e times 100 µs.
	Left Key = 4
	// LeftInside is likewise how much time an ask has left whose request is inside the message, see
	// [Metadata.Sealed].
	LeftInside Key = 5
)

// MaxSize is how many bytes the map may have.
const MaxSize = 1 << 10

// Empty is empty metadata on the wire: an empty byte string.
const Empty = codec.MajorBytes

// Metadata is an immutable set of values by key, and the request of an ask, if the message is one.
// It is comparable; equal sets are equal. The zero value is empty.
type Metadata struct {
	encoded string // a map with ascending keys, without those of the request; "" if it is empty
	request *Request
}

// IsEmpty reports whether there are no values and no request.
func (m Metadata) IsEmpty() bool { return m.encoded == "" && m.request == nil }

// HasValues reports whether there are values.
func (m Metadata) HasValues() bool { return m.encoded != "" }

// Request returns the request of an ask; nil for another message.
func (m Metadata) Request() *Request { return m.request }

// WithRequest returns m with another request; nil removes it.
func (m Metadata) WithRequest(r *Request) Metadata { return Metadata{m.encoded, r} }

// Sealed returns m for a message that has the message with m inside, and that must arrive even if
// its ask has ended: others are numbered behind it. [Metadata.Unsealed] undoes it.
func (m Metadata) Sealed() Metadata { return m.WithRequest(m.request.sealed(requestSealed)) }

// Unsealed returns the metadata of the message inside one with m.
func (m Metadata) Unsealed() Metadata { return m.WithRequest(m.request.sealed(0)) }

// Size returns how many bytes m takes on the wire. With a request that may be a few more than it
// takes.
func (m Metadata) Size() int {
	var head [9]byte
	content := len(m.encoded)
	if m.request != nil {
		content += 1 + leftSize
	}
	return len(codec.AppendHead(head[:0], codec.MajorBytes, uint64(content))) + content
}

// Fits reports whether m can be sent. Metadata that is too large is dropped; the message is sent.
func (m Metadata) Fits() bool { return len(m.encoded) <= MaxSize }

// Append appends m to buf as it is on the wire.
func (m Metadata) Append(buf []byte) []byte {
	left, key, limited := m.request.toSend()
	switch {
	case !limited:
		return append(codec.AppendHead(buf, codec.MajorBytes, uint64(len(m.encoded))), m.encoded...)
	case m.encoded == "":
		return appendLeft(append(codec.AppendHead(buf, codec.MajorBytes, 1+leftSize), codec.MajorMap|1), key, left)
	}
	with := encode(append(m.pairs(), pair{key, appendLeft(nil, key, left)[1:]}))
	return append(codec.AppendHead(buf, codec.MajorBytes, uint64(len(with))), with...)
}

// Encoded returns the map, without the byte string around it and without the request, for a store;
// nil if it is empty.
func (m Metadata) Encoded() []byte {
	if m.encoded == "" {
		return nil
	}
	return []byte(m.encoded)
}

// Get returns the value of a key. It returns false without a value, or if the value is no byte
// string, which a newer release may have set.
func (m Metadata) Get(key Key) (value []byte, ok bool) {
	for _, p := range m.pairs() {
		if p.key == key {
			return p.content()
		}
	}
	return nil, false
}

// With returns m with another value for a key, which it copies. A nil value removes the key.
func (m Metadata) With(key Key, value []byte) Metadata {
	all := slices.DeleteFunc(m.pairs(), func(p pair) bool { return p.key == key })
	if value != nil {
		all = append(all, pair{key, append(codec.AppendHead(nil, codec.MajorBytes, uint64(len(value))), value...)})
	}
	return Metadata{encode(all), m.request}
}

type pair struct {
	key   Key
	value []byte
}

func (p pair) content() ([]byte, bool) {
	major, _, rest, ok := codec.Head(p.value)
	return bytes.Clone(rest), ok && major == codec.MajorBytes
}

func (m Metadata) pairs() []pair {
	if m.encoded == "" {
		return nil
	}
	all, _ := pairsOf([]byte(m.encoded)) // it was made by of
	return all
}

// The values have different keys. It is "" for none.
func encode(all []pair) string {
	if len(all) == 0 {
		return ""
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	buf := codec.AppendHead(nil, codec.MajorMap, uint64(len(all)))
	for _, p := range all {
		buf = append(codec.AppendHead(buf, codec.MajorUint, uint64(p.key)), p.value...)
	}
	return string(buf)
}

var (
	errMalformed = errors.New("metadata is no byte string, or has no end")
	// ErrUnusable says that the content of the byte string is too large, or is anything but a map
	// with integer keys. The message can be used without it.
	ErrUnusable = fmt.Errorf("metadata has more than %d bytes, or is no map with integer keys", MaxSize)
)

// Read returns the metadata at the beginning of data, and what follows. The metadata does not share
// memory with data. With [ErrUnusable], rest is valid. After another error nothing can be found
// behind the metadata.
func Read(data []byte) (m Metadata, rest []byte, err error) {
	major, n, rest, ok := codec.Head(data)
	if !ok || major != codec.MajorBytes || n > uint64(len(rest)) {
		return Metadata{}, nil, errMalformed
	}
	if m, ok = Decode(rest[:n]); !ok {
		err = ErrUnusable
	}
	return m, rest[n:], err
}

// Decode returns the metadata that [Metadata.Encoded] has encoded. ok is false if data is not
// usable.
func Decode(data []byte) (m Metadata, ok bool) {
	if len(data) == 0 {
		return Metadata{}, true
	}
	if len(data) == 1+leftSize && data[0] == codec.MajorMap|1 {
		if r := readLeft(data[1:]); r != nil {
			return Metadata{request: r}, true
		}
	}
	if len(data) > MaxSize+leftSize {
		return Metadata{}, false
	}
	all, ok := pairsOf(data)
	if !ok || hasTwice(all) {
		return Metadata{}, false
	}
	for i, p := range all {
		if r := requestOf(p); r != nil {
			return Metadata{encode(slices.Delete(all, i, i+1)), r}, true
		}
	}
	return Metadata{encoded: encode(all)}, true
}

func hasTwice(all []pair) bool {
	seen := map[Key]bool{}
	for _, p := range all {
		if seen[p.key] {
			return true
		}
		seen[p.key] = true
	}
	return false
}

// The pairs must be all of data. The values share memory with data.
func pairsOf(data []byte) (all []pair, ok bool) {
	major, n, rest, ok := codec.Head(data)
	if !ok || major != codec.MajorMap {
		return nil, false
	}
	for ; n > 0; n-- {
		major, key, behind, ok := codec.Head(rest)
		if !ok || major != codec.MajorUint {
			return nil, false
		}
		if rest, ok = codec.Skip(behind); !ok {
			return nil, false
		}
		size := len(behind) - len(rest)
		all = append(all, pair{Key(key), behind[:size:size]})
	}
	return all, len(rest) == 0
}
