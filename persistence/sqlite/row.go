package sqlite

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

type insertion struct {
	values [11]driver.Value // of its columns; the first is set by the committer
	crc    uint32
	tags   []string // of table event_tag
}

// An eventRow is a stored record in the columns of table event. Tags and metadata are JSON, for the
// functions of SQLite and for people; NULL means empty. Numbers are read as they are stored: one
// out of range is damage of its record, and does not keep the others from being read.
type eventRow struct {
	seq, epoch, sec, nsec, crc int64

	writer     sql.RawBytes // valid until the next row is scanned
	typ        string
	tags, meta sql.NullString
	payload    []byte
}

const eventColumns = "e.seq, e.epoch, e.writer, e.sec, e.nsec, e.type, e.tags, e.meta, e.payload, e.crc"

// columns returns the destinations for scanning eventColumns. A row may be scanned into repeatedly:
// previously decoded values are not changed.
func (r *eventRow) columns() []any {
	return []any{&r.seq, &r.epoch, &r.writer, &r.sec, &r.nsec, &r.typ, &r.tags, &r.meta, &r.payload, &r.crc}
}

// The insertion shares no memory with r.
func (n *insertion) encode(id string, r *journal.Record) error {
	payload, err := encodePayload(r.Payload)
	if err != nil {
		return err
	}
	var tags, meta driver.Value
	if len(r.Tags) > 0 {
		tags = encodeJSON(r.Tags)
	}
	if len(r.Meta) > 0 {
		meta = encodeJSON(r.Meta)
	}
	n.crc, n.tags = r.Checksum(id), slices.Clone(r.Tags)
	n.values = [...]driver.Value{
		nil, int64(r.Seq), int64(r.Epoch), bytes.Clone(r.Writer[:]), r.Time.Unix(), int64(r.Time.Nanosecond()), r.Type, tags, meta, payload, int64(n.crc), //nolint:gosec // what no claim can have is refused when the head is compared
	}
	return nil
}

func decodeEvent(id string, row *eventRow) (journal.Record, error) {
	tags, tagsErr := decodeJSON[[]string](row.tags)
	meta, metaErr := decodeJSON[map[string]string](row.meta)
	r := journal.Record{
		Seq: uint64(row.seq), Epoch: uint64(row.epoch), Time: time.Unix(row.sec, row.nsec).UTC(), Type: row.typ, Tags: tags, Meta: meta, Payload: row.payload,
	}
	sound := copy(r.Writer[:], row.writer) == len(r.Writer) && tagsErr == nil && metaErr == nil && int64(r.Checksum(id)) == row.crc
	if !sound {
		return journal.Record{}, fmt.Errorf("%w: record %d fails its checksum", journal.ErrCorrupt, row.seq)
	}
	return r, nil
}

// encodePayload returns a copy that is not nil, because nil would be stored as NULL.
func encodePayload(payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("%w: payload of %d bytes, at most %d", journal.ErrTooLarge, len(payload), MaxPayload)
	}
	return append([]byte{}, payload...), nil
}

func encodeJSON[T []string | map[string]string](v T) driver.Value {
	data, err := json.Marshal(v)
	if err != nil { // strings do not fail to marshal
		return nil
	}
	return string(data)
}

func decodeJSON[T []string | map[string]string](s sql.NullString) (T, error) {
	if !s.Valid {
		return nil, nil
	}
	var v T // not a named result, which would allocate memory even without data
	err := json.Unmarshal([]byte(s.String), &v)
	return v, err
}
