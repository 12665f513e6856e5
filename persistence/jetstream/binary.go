package jetstream

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/understudy-go/understudy/persistence/journal"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A decoder takes values from the front of bytes. When a value is missing, it returns zeros from
// then on, and bad is true.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// take returns the next n bytes. Appending to the result does not overwrite the following bytes.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return nil
	}
	taken := d.rest[:n:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) uint32() uint32 {
	b := d.take(4)
	if d.bad {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

func (d *decoder) string() string { return string(d.take(d.uvarint())) }

// count returns how many values follow. Each value takes at least one byte.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return 0
	}
	return int(n)
}

// appendAscending appends ascending numbers, encoded as their differences.
func appendAscending(b []byte, numbers []uint64) []byte {
	b = binary.AppendUvarint(b, uint64(len(numbers)))
	last := uint64(0)
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n-last)
		last = n
	}
	return b
}

func (d *decoder) ascending() []uint64 {
	numbers := make([]uint64, d.count())
	last := uint64(0)
	for i := range numbers {
		last += d.uvarint()
		numbers[i] = last
	}
	return numbers
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", journal.ErrCorrupt, fmt.Sprintf(format, args...))
}
