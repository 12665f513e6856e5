package wire

import (
	"bytes"
	"fmt"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/codec"
)

// A large message travels in parts, so that others need not wait for all of it, and so that each
// part is acknowledged. A part is the CBOR array [bytes behind this part, bytes]. All parts of a
// message together are its envelope.
const (
	// MaxPart is how many bytes of a message one frame carries.
	MaxPart = 24 << 10
	// PartOverhead bounds what a frame with a part has besides these bytes.
	PartOverhead = HeaderSize + 1 + 9 + 9

	partFields = 2
)

// AppendPart appends a frame with a part, behind which left bytes of the message follow.
func AppendPart(buf, part []byte, left int) []byte {
	begin := len(buf)
	buf = append(buf, make([]byte, HeaderSize)...)
	buf = codec.AppendHead(buf, codec.MajorArray, partFields)
	buf = codec.AppendHead(buf, codec.MajorUint, uint64(left))
	buf = codec.AppendHead(buf, codec.MajorBytes, uint64(len(part)))
	return putSize(append(buf, part...), begin)
}

// A Reassembler puts parts together. The zero value is empty. Its memory grows with what has
// arrived.
type Reassembler struct {
	body    []byte
	left    uint64 // bytes still to come
	refused bool
}

// IsPart reports whether the body of a frame is a part.
func IsPart(body []byte) bool { return len(body) > 0 && body[0] == codec.MajorArray|partFields }

// Add takes the body of a frame with a part, and returns the body of the message after its last
// part. It fails with [remote.ErrFrame] or [remote.ErrTooLarge], once per message, and then returns
// what it drops of the message. A part that does not continue a message begins another one.
func (j *Reassembler) Add(r *EnvelopeReader, frame []byte, limit int) (body, lost []byte, err error) {
	left, data, err := r.part(frame)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%w: a part of nothing, with %d bytes behind it", remote.ErrFrame, left)
	}
	if err != nil {
		lost = j.body
		*j = Reassembler{}
		return nil, lost, err
	}
	if size := uint64(len(data)); j.left > 0 && (size > j.left || j.left-size != left) {
		if !j.refused {
			lost, err = j.body, fmt.Errorf("%w: a part of %d bytes with %d behind it, where %d are left", remote.ErrFrame, size, left, j.left)
		}
		*j = Reassembler{}
	}
	if have := len(j.body) + len(data); !j.refused && (have > limit || left > uint64(limit-have)) {
		lost = append(j.body, data...)
		err = fmt.Errorf("%w: %d bytes in parts, and %d to come, the limit is %d", remote.ErrTooLarge, have, left, limit)
		*j = Reassembler{refused: true}
	}
	return j.add(left, data), lost, err
}

// body is the message after the last part.
func (j *Reassembler) add(left uint64, data []byte) (body []byte) {
	j.left = left
	if !j.refused {
		j.grow(len(data), left)
		j.body = append(j.body, data...)
	}
	if left > 0 {
		return nil
	}
	body = j.body
	*j = Reassembler{}
	return body
}

// A smaller message has less.
const firstGrowth = 256 << 10

// Another left bytes are announced. The announced size is the limit of the capacity; what has
// arrived makes it grow by a factor of four, so that a message is copied seldom and an announcement
// costs little.
func (j *Reassembler) grow(size int, left uint64) {
	need := len(j.body) + size
	if need <= cap(j.body) {
		return
	}
	whole := need + int(left) //nolint:gosec // within the limit
	j.body = append(make([]byte, 0, min(whole, max(4*need, firstGrowth))), j.body...)
}

// Trim frees memory that was reserved for what is still to come.
func (j *Reassembler) Trim() {
	if cap(j.body) > 2*len(j.body) {
		j.body = bytes.Clone(j.body)
	}
}

// Len returns how many bytes of an unfinished message there are.
func (j *Reassembler) Len() int { return len(j.body) }
