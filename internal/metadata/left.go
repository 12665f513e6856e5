package metadata

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/understudy-go/understudy/internal/codec"
)

// leftSize is how many bytes the key [Left] and its value take: they always have this form.
const leftSize = 4

const (
	leftUnit     = 100 * time.Microsecond
	leftBits     = 11 // of the factor
	leftExponent = 5  // bits
	uint16Head   = codec.MajorUint | 25
)

// Less time than there is may be written, by one part in 1000, and never more.
func appendLeft(buf []byte, key Key, left time.Duration) []byte {
	buf = append(buf, byte(key), uint16Head, 0, 0)
	PutLeft(buf[len(buf)-2:], left)
	return buf
}

// PutLeft writes another time where [Metadata.LeftAt] says.
func PutLeft(at []byte, left time.Duration) {
	n := uint64(min(max(left, 0), maxLeft-1) / leftUnit) //nolint:gosec // not negative
	shift := max(bits.Len64(n)-leftBits, 0)
	binary.BigEndian.PutUint16(at, uint16(n>>shift<<leftExponent|uint64(shift))) //nolint:gosec // just bounded
}

// LeftAt returns where in what Append appends the time stands that is left, for [PutLeft], and when
// the ask ends. It returns false if m says nothing of that.
func (m Metadata) LeftAt() (at int, ends time.Duration, ok bool) {
	_, key, ok := m.request.toSend()
	if !ok {
		return 0, 0, false
	}
	ends, _ = m.request.Ends()
	before, content := 1, 1+leftSize // the head of the map
	for _, p := range m.pairs() {
		size := len(codec.AppendHead(nil, codec.MajorUint, uint64(p.key))) + len(p.value)
		content += size
		if p.key < key {
			before += size
		}
	}
	return len(codec.AppendHead(nil, codec.MajorBytes, uint64(content))) + before + leftSize - 2, ends, true
}

// maxLeft is more than ten years.
const maxLeft = leftUnit << (leftBits + 1<<leftExponent - 1)

func readLeft(data []byte) *Request {
	if len(data) != leftSize || data[0] != byte(Left) && data[0] != byte(LeftInside) || data[1] != uint16Head {
		return nil
	}
	n := binary.BigEndian.Uint16(data[2:])
	r := Arrived(time.Duration(n>>leftExponent) << (n & (1<<leftExponent - 1)) * leftUnit)
	if data[0] == byte(LeftInside) {
		return r.sealed(requestSealed)
	}
	return r
}

func requestOf(p pair) *Request {
	if p.key != Left && p.key != LeftInside {
		return nil
	}
	return readLeft(append([]byte{byte(p.key)}, p.value...))
}

// limited is false also for what cannot be written.
func (r *Request) toSend() (left time.Duration, key Key, limited bool) {
	if r == nil {
		return 0, 0, false
	}
	key = Left
	if r.state.Load()&requestSealed != 0 {
		key = LeftInside
	}
	ends, limited := r.Ends()
	left = ends - Now()
	return left, key, limited && left < maxLeft
}
