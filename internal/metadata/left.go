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

// appendLeft appends the key and the value. Less time than there is may be written, by one part in
// 2000, and never more.
func appendLeft(buf []byte, left time.Duration) []byte {
	n := uint64(max(left, 0) / leftUnit) //nolint:gosec // not negative
	shift := max(bits.Len64(n)-leftBits, 0)
	return binary.BigEndian.AppendUint16(append(buf, byte(Left), uint16Head), uint16(n>>shift<<leftExponent|uint64(shift))) //nolint:gosec // send bounds it
}

// maxLeft is the longest time that can be written: more than three hours.
const maxLeft = leftUnit << (leftBits + 1<<leftExponent - 2)

// readLeft reads what appendLeft has appended.
func readLeft(data []byte) (left time.Duration, ok bool) {
	if len(data) != leftSize || data[0] != byte(Left) || data[1] != uint16Head {
		return 0, false
	}
	n := binary.BigEndian.Uint16(data[2:])
	return time.Duration(n>>leftExponent) << (n & (1<<leftExponent - 1)) * leftUnit, true
}

func leftOf(p pair) (left time.Duration, ok bool) {
	if p.key != Left {
		return 0, false
	}
	return readLeft(append([]byte{byte(Left)}, p.value...))
}

// toSend returns how much time is left, if that is limited and can be written.
func (r *Request) toSend() (left time.Duration, limited bool) {
	if r == nil {
		return 0, false
	}
	ends, limited := r.Ends()
	left = ends - Now()
	return left, limited && left < maxLeft
}
