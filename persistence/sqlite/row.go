package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

// An eventRow is a record in the columns of table event. Tags and metadata are JSON, for the
// functions of SQLite and for people; NULL means empty.
type eventRow struct {
	seq, epoch uint64
	writer     sql.RawBytes // valid until the next row is scanned
	sec        int64
	nsec       int
	typ        string
	tags, meta sql.NullString
	payload    []byte
	crc        uint32
	tagList    []string // of table event_tag
}

// eventColumns are the columns of event e.
const eventColumns = "e.seq, e.epoch, e.writer, e.sec, e.nsec, e.type, e.tags, e.meta, e.payload, e.crc"

// columns returns the destinations for scanning eventColumns. A row may be scanned into repeatedly:
// previously decoded values are not changed.
func (r *eventRow) columns() []any {
	return []any{&r.seq, &r.epoch, &r.writer, &r.sec, &r.nsec, &r.typ, &r.tags, &r.meta, &r.payload, &r.crc}
}

// encodeEvent returns r as a row of id. The row shares no memory with r.
func encodeEvent(id string, r *journal.Record) (eventRow, error) {
	payload, err := encodePayload(r.Payload)
	if err != nil {
		return eventRow{}, err
	}
	row := eventRow{
		seq: r.Seq, epoch: r.Epoch, writer: bytes.Clone(r.Writer[:]), sec: r.Time.Unix(), nsec: r.Time.Nanosecond(), typ: r.Type,
		payload: payload, crc: r.Checksum(id), tagList: slices.Clone(r.Tags),
	}
	if len(r.Tags) > 0 {
		row.tags = encodeJSON(r.Tags)
	}
	if len(r.Meta) > 0 {
		row.meta = encodeJSON(r.Meta)
	}
	return row, nil
}

// decodeEvent returns the record of id in row, or [journal.ErrCorrupt].
func decodeEvent(id string, row *eventRow) (journal.Record, error) {
	tags, tagsErr := decodeJSON[[]string](row.tags)
	meta, metaErr := decodeJSON[map[string]string](row.meta)
	r := journal.Record{
		Seq: row.seq, Epoch: row.epoch, Time: time.Unix(row.sec, int64(row.nsec)).UTC(), Type: row.typ, Tags: tags, Meta: meta, Payload: row.payload,
	}
	sound := copy(r.Writer[:], row.writer) == len(r.Writer) && tagsErr == nil && metaErr == nil && r.Checksum(id) == row.crc
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

func encodeJSON[T []string | map[string]string](v T) sql.NullString {
	data, err := json.Marshal(v)
	return sql.NullString{String: string(data), Valid: err == nil} // strings do not fail to marshal
}

func decodeJSON[T []string | map[string]string](s sql.NullString) (T, error) {
	if !s.Valid {
		return nil, nil
	}
	var v T // not a named result, which would allocate memory even without data
	err := json.Unmarshal([]byte(s.String), &v)
	return v, err
}
