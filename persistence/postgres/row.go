package postgres

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

// MaxPayload is the size of the largest payload of an event or a snapshot, in bytes.
const MaxPayload = 64 << 20

// An eventRow is a record in the form that the statements take. Tags are an array, as text;
// metadata is JSON, empty without metadata.
type eventRow struct {
	seq        int64
	writer     []byte
	sec        int64
	nsec       int32
	typ        string
	tags, meta string
	payload    []byte
	crc        int32
}

// encodeEvent returns r as a row of id. The row shares no memory with r.
func encodeEvent(id string, r *journal.Record) (eventRow, error) {
	payload, err := encodePayload(r.Payload)
	if err != nil {
		return eventRow{}, err
	}
	return eventRow{
		seq: int64(r.Seq), writer: bytes.Clone(r.Writer[:]), sec: r.Time.Unix(), nsec: int32(r.Time.Nanosecond()), typ: r.Type,
		tags: encodeTags(r.Tags), meta: encodeMeta(r.Meta), payload: payload, crc: int32(r.Checksum(id)),
	}, nil
}

// encodePayload returns a copy that is not nil, because nil would be stored as NULL.
func encodePayload(payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("%w: payload of %d bytes, at most %d", journal.ErrTooLarge, len(payload), MaxPayload)
	}
	return append([]byte{}, payload...), nil
}

var quoteTag = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// encodeTags returns tags as the text of an array, because PostgreSQL has no arrays of arrays with
// different lengths.
func encodeTags(tags []string) string {
	if len(tags) == 0 {
		return "{}"
	}
	var b strings.Builder
	for _, tag := range tags {
		b.WriteString(`,"` + quoteTag.Replace(tag) + `"`)
	}
	return "{" + b.String()[1:] + "}"
}

func encodeMeta(meta map[string]string) string {
	if len(meta) == 0 {
		return ""
	}
	data, _ := json.Marshal(meta) // strings do not fail to marshal
	return string(data)
}

const eventColumns = "e.seq, e.epoch, e.writer, e.sec, e.nsec, e.type, e.tags, e.meta::text, e.payload, e.crc"

// A storedRow is the destination for scanning rows of eventColumns, one after the other.
type storedRow struct {
	record journal.Record
	writer []byte
	sec    int64
	nsec   int64
	meta   *string
	crc    int32
}

func (s *storedRow) columns() []any {
	r := &s.record
	return []any{&r.Seq, &r.Epoch, &s.writer, &s.sec, &s.nsec, &r.Type, &r.Tags, &s.meta, &r.Payload, &s.crc}
}

func (s *storedRow) decode(id string) (journal.Record, error) {
	r := s.record
	r.Time = time.Unix(s.sec, s.nsec).UTC()
	if len(r.Tags) == 0 {
		r.Tags = nil
	}
	var err error
	if s.meta != nil {
		r.Meta, err = decodeMeta(*s.meta)
	}
	if err != nil || copy(r.Writer[:], s.writer) != len(r.Writer) || int32(r.Checksum(id)) != s.crc {
		return journal.Record{}, fmt.Errorf("%w: record %d fails its checksum", journal.ErrCorrupt, r.Seq)
	}
	if r.Seq == 0 {
		r.Tags = nil // a tombstone has one only to be found
	}
	return r, nil
}

func decodeMeta(text string) (meta map[string]string, err error) {
	err = json.Unmarshal([]byte(text), &meta)
	return meta, err
}
