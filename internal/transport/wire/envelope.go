package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/metadata"
)

// An Envelope is a message with its recipient and its metadata, as the CBOR array [path, uid, type,
// metadata, data], or [path, uid, type, metadata, compressed data, size]. The metadata is a byte
// string, see [metadata.Read]. Further elements are ignored. A size of 0 says that the data is not
// compressed. It is encoded by hand for speed, and a fuzz test compares it with the codec.
type Envelope struct {
	Path     string
	UID      uint64
	Payload  extension.Payload // Data aliases the frame, or was decompressed
	Metadata metadata.Metadata
	Unusable bool // the envelope has metadata that is left out, see metadata.ErrUnusable
	Own      bool // Data was decompressed, and nobody else uses it
}

const (
	envelopeFields   = 5
	compressedFields = 6
)

// MaxText is the largest size of a path or type name in bytes. Both are logged and kept.
const MaxText = 4 << 10

// BeginEnvelope appends a frame up to its metadata, which is appended next, followed by the data.
// size is the size of the data before compression, or 0 if it is not compressed.
func BeginEnvelope(buf []byte, path string, uid uint64, name string, size int) []byte {
	fields := uint64(envelopeFields)
	if size > 0 {
		fields = compressedFields
	}
	buf = append(buf, make([]byte, HeaderSize)...)
	buf = codec.AppendHead(buf, codec.MajorArray, fields)
	buf = codec.AppendHead(buf, codec.MajorText, uint64(len(path)))
	buf = append(buf, path...)
	buf = codec.AppendHead(buf, codec.MajorUint, uid)
	buf = codec.AppendHead(buf, codec.MajorText, uint64(len(name)))
	return append(buf, name...)
}

// ReserveHead appends room for the head of data of about that size, for [FillHead].
func ReserveHead(buf []byte, size int) []byte {
	return append(buf, "\x00\x00\x00\x00\x00\x00\x00\x00\x00"[:headSize(max(size, 24))]...)
}

// FillHead completes a frame with an envelope whose data is not compressed: its first begun bytes
// end with the metadata, [ReserveHead] left room for the head of the data, and the data begins at
// data. It moves the data if the head has another size than the room.
func FillHead(buf []byte, begun, data int) []byte {
	size := len(buf) - data
	if gap := headSize(size) - (data - begun); gap > 0 {
		buf = append(buf, make([]byte, gap)...)
		copy(buf[data+gap:], buf[data:])
	} else if gap < 0 {
		copy(buf[data+gap:], buf[data:])
		buf = buf[:len(buf)+gap]
	}
	codec.AppendHead(buf[:begun], codec.MajorBytes, uint64(size))
	return putSize(buf, 0)
}

func headSize(n int) int {
	switch {
	case n < 24:
		return 1
	case n <= math.MaxUint8:
		return 2
	case n <= math.MaxUint16:
		return 3
	case n <= math.MaxUint32:
		return 5
	}
	return 9
}

// AppendData appends the data to the envelope that begins at begin, and completes its frame.
func AppendData(buf []byte, begin int, data []byte, size int) []byte {
	buf = codec.AppendHead(buf, codec.MajorBytes, uint64(len(data)))
	buf = append(buf, data...)
	if size > 0 {
		buf = codec.AppendHead(buf, codec.MajorUint, uint64(size))
	}
	return putSize(buf, begin)
}

// EnvelopeSize returns an upper bound for the size of a frame with an envelope without metadata.
func EnvelopeSize(path string, p extension.Payload) int {
	return EnvelopeBound(len(path), len(p.Type), len(p.Data))
}

// EnvelopeBound is [EnvelopeSize] for a path, a type name and data of those sizes.
func EnvelopeBound(path, name, data int) int {
	const heads = HeaderSize + 1 + 5*9 + 1
	return heads + path + name + data
}

// An EnvelopeReader decodes the envelopes of one connection. It keeps repeated strings, and what
// came before the metadata of the last envelope, because the next one is likely to be for the same
// actor and of the same type.
type EnvelopeReader struct {
	known  map[string]string
	before Envelope // without its metadata and data
	fields uint64   // that it had
	begun  []byte   // what stood before its metadata
	limit  int      // of the decompressed size
	rest   []byte
	err    error
}

// Together they bound the memory of one connection.
const (
	maxKnown     = 4096
	maxKnownText = 1 << 10 // bytes; longer ones are not kept
)

// NewEnvelopeReader returns a reader that decompresses no message to more than limit bytes.
func NewEnvelopeReader(limit int) *EnvelopeReader {
	return &EnvelopeReader{known: map[string]string{}, limit: limit}
}

// Read decodes the body of a frame. It fails with [remote.ErrFrame], and then also returns what it
// could read.
func (r *EnvelopeReader) Read(body []byte) (Envelope, error) {
	r.begin(body)
	e := r.before
	e.Metadata, e.Unusable = r.metadata()
	e.Payload.Data = r.bytes(codec.MajorBytes)
	var size uint64
	if r.fields >= compressedFields {
		size = r.head(codec.MajorUint)
		r.skip(r.fields - compressedFields)
	}
	if r.err == nil && len(r.rest) > 0 {
		r.fail("%d bytes after its end", len(r.rest))
	}
	if r.err == nil && size > 0 {
		e.Payload.Data, r.err = inflate(e.Payload.Data, size, r.limit)
		e.Own = true
	}
	return e, r.err
}

func (r *EnvelopeReader) begin(body []byte) {
	r.rest, r.err = body, nil
	if len(r.begun) > 0 && bytes.HasPrefix(body, r.begun) {
		r.rest = body[len(r.begun):]
		return
	}
	r.begun = r.begun[:0]
	r.fields = r.head(codec.MajorArray)
	if r.err == nil && r.fields < envelopeFields {
		r.fail("an array of %d", r.fields)
	}
	r.before.Path = r.text(r.before.Path) // "" when it fails, as all that follows
	r.before.UID = r.head(codec.MajorUint)
	r.before.Payload.Type = r.text(r.before.Payload.Type)
	if r.err == nil {
		r.begun = append(r.begun, body[:len(body)-len(r.rest)]...)
	}
}

// part fails with [remote.ErrFrame].
func (r *EnvelopeReader) part(body []byte) (left uint64, data []byte, err error) {
	r.rest, r.err = body, nil
	if fields := r.head(codec.MajorArray); r.err == nil && fields != partFields {
		r.fail("an array of %d", fields)
	}
	left, data = r.head(codec.MajorUint), r.bytes(codec.MajorBytes)
	if r.err == nil && len(r.rest) > 0 {
		r.fail("%d bytes after its end", len(r.rest))
	}
	return left, data, r.err
}

// unusable says that there is some, which is left out.
func (r *EnvelopeReader) metadata() (m metadata.Metadata, unusable bool) {
	if r.err != nil {
		return metadata.Metadata{}, false
	}
	m, rest, err := metadata.Read(r.rest)
	unusable = errors.Is(err, metadata.ErrUnusable)
	if err != nil && !unusable {
		r.fail("no metadata")
	}
	r.rest = rest
	return m, unusable
}

// A newer release has added them.
func (r *EnvelopeReader) skip(n uint64) {
	for ; n > 0 && r.err == nil; n-- {
		rest, ok := codec.Skip(r.rest)
		if !ok {
			r.fail("no end")
		}
		r.rest = rest
	}
}

func (r *EnvelopeReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: envelope has %s", remote.ErrFrame, fmt.Sprintf(format, args...))
	}
}

// text keeps a copy of the text. last is the likely value.
func (r *EnvelopeReader) text(last string) string {
	b := r.bytes(codec.MajorText)
	if string(b) == last {
		return last
	}
	if s, ok := r.known[string(b)]; ok {
		return s
	}
	if len(b) > MaxText || !utf8.Valid(b) {
		r.fail("a text that is too long or not UTF-8: %.100q", b)
		return ""
	}
	s := string(b)
	if len(s) <= maxKnownText {
		r.know(s)
	}
	return s
}

// know forgets any one text if there are too many. Forgetting all, or the oldest, would forget each
// one too early if a few more actors than that get messages in turn.
func (r *EnvelopeReader) know(s string) {
	if len(r.known) == maxKnown {
		for any := range r.known {
			delete(r.known, any)
			break
		}
	}
	r.known[s] = s
}

func (r *EnvelopeReader) bytes(major byte) []byte {
	size := r.head(major)
	if r.err == nil && size > uint64(len(r.rest)) {
		r.fail("a string of %d bytes where %d are left", size, len(r.rest))
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:size:size]
	r.rest = r.rest[size:]
	return b
}

func (r *EnvelopeReader) head(major byte) uint64 {
	if r.err == nil && len(r.rest) == 0 {
		r.fail("no end")
	}
	if r.err != nil {
		return 0
	}
	if first := r.rest[0]; first&0xe0 != major || first&0x1f > 27 {
		r.fail("an item 0x%02x where major type %d belongs", first, major>>5)
		return 0
	}
	_, n, rest, ok := codec.Head(r.rest)
	if !ok {
		r.fail("no end")
		return 0
	}
	r.rest = rest
	return n
}
