package codec

import (
	"encoding/binary"
	"math"
)

// The major types of CBOR (RFC 8949, 3.1), as the upper bits of the first byte of an item.
const (
	MajorUint     byte = 0 << 5
	MajorNegative byte = 1 << 5
	MajorBytes    byte = 2 << 5
	MajorText     byte = 3 << 5
	MajorArray    byte = 4 << 5
	MajorMap      byte = 5 << 5
	MajorTag      byte = 6 << 5
)

// The first bytes of values of the last major type.
const (
	simpleFalse   byte = 0xf4
	simpleTrue    byte = 0xf5
	simpleNull    byte = 0xf6
	simpleByte    byte = 0xf8 // a number follows
	simpleFloat16 byte = 0xf9
	simpleFloat32 byte = 0xfa
	simpleFloat64 byte = 0xfb
)

// AppendHead appends the head of an item: its major type and its number, in the shortest form.
func AppendHead(buf []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(buf, major|byte(n))
	case n <= math.MaxUint8:
		return append(buf, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(buf, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(buf, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(buf, major|27), n)
}

// Head reads the head of an item in any form that has a number, and returns the rest of data. ok is
// false if data is too short, or if the item has no number.
func Head(data []byte) (major byte, n uint64, rest []byte, ok bool) {
	if len(data) == 0 {
		return 0, 0, nil, false
	}
	major, info := data[0]&0xe0, data[0]&0x1f
	if info < 24 {
		return major, uint64(info), data[1:], true
	}
	if info > 27 {
		return 0, 0, nil, false
	}
	size := 1 << (info - 24)
	if len(data) <= size {
		return 0, 0, nil, false
	}
	for _, b := range data[1 : 1+size] {
		n = n<<8 | uint64(b)
	}
	return major, n, data[1+size:], true
}

// want is the major type of the string. The content shares memory with data.
func content(data []byte, want byte) (s, rest []byte, ok bool) {
	major, n, rest, ok := Head(data)
	if !ok || major != want || n > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

func isNull(data []byte) bool { return len(data) > 0 && data[0] == simpleNull }

// maxSkipDepth is below [MaxDepth], because what is skipped is inside of something else.
const maxSkipDepth = MaxDepth / 2

// Skip returns what follows the first item of data. ok is false if the item is malformed, is nested
// deeper than 32 levels, or has no length at its beginning, which nothing encoded here has.
func Skip(data []byte) (rest []byte, ok bool) { return skip(data, maxSkipDepth) }

func skip(data []byte, depth int) (rest []byte, ok bool) {
	major, n, rest, ok := Head(data)
	if !ok || depth == 0 {
		return nil, false
	}
	switch major {
	case MajorUint, MajorNegative:
		return rest, true
	case MajorBytes, MajorText:
		if n > uint64(len(rest)) {
			return nil, false
		}
		return rest[n:], true
	case MajorArray:
		return skipItems(rest, n, depth)
	case MajorMap:
		return skipItems(rest, 2*min(n, maxElements+1), depth)
	case MajorTag:
		return skip(rest, depth-1)
	}
	return rest, data[0] != simpleByte || n >= 32 // a lower number has a shorter form
}

func skipItems(data []byte, n uint64, depth int) (rest []byte, ok bool) {
	if n > 2*maxElements {
		return nil, false
	}
	for rest, ok = data, true; n > 0 && ok; n-- {
		rest, ok = skip(rest, depth-1)
	}
	return rest, ok
}
