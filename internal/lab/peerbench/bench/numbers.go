package bench

import "encoding/binary"

// NumberBytes is a number as the data of a protobuf message.
func NumberBytes(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// BytesNumber is the number of NumberBytes.
func BytesNumber(b []byte) int {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		panic("not a number")
	}
	return int(n)
}
