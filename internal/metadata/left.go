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
	leftBits     = 12 // of the factor
	leftExponent = 4  // bits
	uint16Head   = codec.MajorUint | 25
)

// appendLeft appends the key, [Left] or [LeftInside], and the value. Less time than there is may be
// written, by one part in 2000, and never more.
func appendLeft(buf []byte, key Key, left time.Duration) []byte {
	n := uint64(max(left, 0) / leftUnit) //nolint:gosec // not negative
	shift := max(bits.Len64(n)-leftBits, 0)
	return binary.BigEndian.AppendUint16(append(buf, byte(key), uint16Head), uint16(n>>shift<<leftExponent|uint64(shift))) //nolint:gosec // send bounds it
}

// maxLeft is the longest time that can be written: more than three hours.
const maxLeft = leftUnit << (leftBits + 1<<leftExponent - 1)

// readLeft returns the request of which appendLeft has written what is left, or nil.
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

// toSend returns how much time is left, if that is limited and can be written, and under which key.
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
