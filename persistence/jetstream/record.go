package jetstream

import (
	"encoding/binary"
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
