package journal

import (
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"
	"sync"
	"time"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC32C of r as a record of id, over every field. Journals store it with the
// record, verify it when they read, and use it to recognise a repeated append. The location of Time
// does not affect it; nil and empty fields give the same sum.
func (r *Record) Checksum(id string) uint32 {
	f := buffers.Get().(*fields) // nothing else is put there
	defer buffers.Put(f)
	b := appendString(f[:0], id)
	b = binary.LittleEndian.AppendUint64(b, r.Seq)
	b = binary.LittleEndian.AppendUint64(b, r.Epoch)
	b = append(b, r.Writer[:]...)
	b = appendTime(b, r.Time)
	b = appendString(b, r.Type)
	b = binary.AppendUvarint(b, uint64(len(r.Tags)))
	for _, tag := range r.Tags {
		b = appendString(b, tag)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Meta)))
	if len(r.Meta) > 0 { // sorting an empty map takes longer than everything else
		for _, key := range slices.Sorted(maps.Keys(r.Meta)) {
			b = appendString(appendString(b, key), r.Meta[key])
		}
	}
	return checksum(b, r.Payload)
}

// Checksum returns the CRC32C of s as a snapshot of id, over every field.
func (s *Snapshot) Checksum(id string) uint32 {
	f := buffers.Get().(*fields)
	defer buffers.Put(f)
	b := appendString(f[:0], id)
	b = binary.LittleEndian.AppendUint64(b, s.Seq)
	b = binary.LittleEndian.AppendUint64(b, s.Epoch)
	b = appendTime(b, s.Time)
	b = appendString(b, s.Type)
	return checksum(b, s.Payload)
}

type fields [256]byte

var buffers = sync.Pool{New: func() any { return new(fields) }}

// checksum sums fields, the length of payload, and payload. Fields of variable length are preceded
// by their length, so that different values have different bytes.
func checksum(fields, payload []byte) uint32 {
	fields = binary.AppendUvarint(fields, uint64(len(payload)))
	return crc32.Update(crc32.Checksum(fields, castagnoli), castagnoli, payload)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTime(b []byte, t time.Time) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Unix()))
	return binary.LittleEndian.AppendUint32(b, uint32(t.Nanosecond()))
}
