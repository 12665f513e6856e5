package jetstream

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

// encodeRecords returns the encoded records of a message, one after the other. Each has its length,
// its checksum and its fields, without the fields that are in the head.
func encodeRecords(id string, records []journal.Record) []byte {
	size := 0
	for i := range records {
		size += 96 + len(records[i].Payload)
	}
	b, fields := make([]byte, 0, size), make([]byte, 0, 96)
	for i := range records {
		r := &records[i]
		fields = appendFields(fields[:0], r)
		b = binary.AppendUvarint(b, uint64(len(fields)+len(r.Payload)))
		b = binary.LittleEndian.AppendUint32(b, r.Checksum(id))
		b = append(append(b, fields...), r.Payload...)
	}
	return b
}

// appendFields appends all fields except the payload, which comes last and needs no length.
func appendFields(b []byte, r *journal.Record) []byte {
	b = append(b, r.Writer[:]...)
	b = appendTime(b, r.Time)
	b = appendString(b, r.Type)
	b = binary.AppendUvarint(b, uint64(len(r.Tags)))
	for _, tag := range r.Tags {
		b = appendString(b, tag)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Meta)))
	for key, value := range r.Meta {
		b = appendString(appendString(b, key), value)
	}
	return b
}

func appendTime(b []byte, t time.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(b, t.Unix()), uint64(t.Nanosecond()))
}

func (d *decoder) time() time.Time {
	sec := d.varint()
	return time.Unix(sec, int64(d.uvarint())).UTC()
}

// A recordDecoder decodes the records of a message one after the other. It can continue after a
// damaged record.
type recordDecoder struct {
	id    string
	epoch uint64
	next  uint64 // the sequence number of the next record
	d     decoder
}

func newRecordDecoder(id string, h *head, body []byte) recordDecoder {
	return recordDecoder{id: id, epoch: h.epoch, next: h.last - h.count + 1, d: decoder{rest: body}}
}

// skip skips the next record without verifying its checksum.
func (r *recordDecoder) skip() {
	n := r.d.uvarint()
	r.d.uint32()
	r.d.take(n)
	r.next++
}

func (r *recordDecoder) record() (journal.Record, error) {
	n, sum := r.d.uvarint(), r.d.uint32()
	d := decoder{rest: r.d.take(n)}
	rec := journal.Record{Seq: r.next, Epoch: r.epoch}
	r.next++
	copy(rec.Writer[:], d.take(uint64(len(rec.Writer))))
	rec.Time = d.time()
	rec.Type = d.string()
	rec.Tags = d.strings()
	rec.Meta = d.meta()
	rec.Payload = d.take(uint64(len(d.rest)))
	if r.d.bad || d.bad || rec.Checksum(r.id) != sum {
		return journal.Record{}, corrupt("record %d does not match its checksum", rec.Seq)
	}
	return rec, nil
}

func (d *decoder) strings() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	s := make([]string, n)
	for i := range s {
		s[i] = d.string()
	}
	return s
}

func (d *decoder) meta() map[string]string {
	n := d.count()
	if n == 0 {
		return nil
	}
	m := make(map[string]string, n)
	for range n {
		key := d.string()
		m[key] = d.string()
	}
	return m
}

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
