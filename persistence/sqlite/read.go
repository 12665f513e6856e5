package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A page ends after this many records, or this many bytes. Starting a read costs as much as a few
// hundred records.
const (
	pageRecords = 4096
	pageBytes   = 1 << 20
)

// Read implements [journal.Journal]. It reads ahead in pages of up to 4096 records or about 1 MiB.
// It holds no lock or connection of the database while the caller works.
func (j *Journal) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		p := page{id: id, next: max(from, 1), last: to}
		for done := false; !done; {
			err := j.readPage(ctx, &p)
			for i, r := range p.records {
				if i > 0 && ctx.Err() != nil { // a page is long
					err = calledOff(ctx)
					break
				}
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Record{}, wrap("read", id, err))
				return
			}
			done = p.next > p.last
		}
	}
}

type page struct {
	id      string
	begun   bool // an earlier page has been read
	records []journal.Record
	next    uint64 // the next record to read; beyond last at the end
	last    uint64 // the last requested record; once begun, the last requested record that exists
}

// readPage also returns the records before an error. Only the first page may begin later than
// requested, after the deleted records.
func (j *Journal) readPage(ctx context.Context, p *page) error {
	p.records = p.records[:0]
	known := false
	err := j.view(ctx, p.id, func(tx *sql.Tx, h head) error {
		known = true
		if h.deletedTo >= p.next && p.begun {
			return fmt.Errorf("%w: record %d was deleted while they were read; read again", journal.ErrUnavailable, p.next)
		}
		p.begun, p.next, p.last = true, max(p.next, h.deletedTo+1), min(p.last, h.seq)
		if p.next > p.last {
			return nil
		}
		return p.fill(ctx, tx, h)
	})
	if err == nil && !known {
		p.next, p.last = 1, 0 // there are no records
	}
	return err
}

func (p *page) fill(ctx context.Context, tx *sql.Tx, h head) error {
	rows, err := tx.QueryContext(ctx, "SELECT "+eventColumns+" FROM event e WHERE e.eid = ? AND e.seq BETWEEN ? AND ? ORDER BY e.seq LIMIT ?",
		h.eid, p.next, p.last, pageRecords)
	if err != nil {
		return err
	}
	defer rows.Close()
	p.records = slices.Grow(p.records, int(min(p.last-p.next+1, pageRecords)))
	size := 0
	var row eventRow
	columns := row.columns()
	for size < pageBytes && rows.Next() {
		if err := rows.Scan(columns...); err != nil {
			return scanError(err)
		}
		if row.seq != int64(p.next) {
			return missing(p.next)
		}
		r, err := decodeEvent(p.id, &row)
		if err != nil {
			return err
		}
		p.records = append(p.records, r)
		p.next++
		size += len(r.Payload)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if size < pageBytes && len(p.records) < pageRecords && p.next <= p.last {
		return missing(p.next)
	}
	return nil
}

func missing(seq uint64) error {
	return fmt.Errorf("%w: record %d is missing", journal.ErrCorrupt, seq)
}

// view runs f with the head of id in a transaction that sees one state of the database. It does
// nothing if the id does not exist.
func (j *Journal) view(ctx context.Context, id string, f func(*sql.Tx, head) error) error {
	if err := journal.ValidateID(id); err != nil {
		return err
	}
	return j.look(ctx, func(tx *sql.Tx) error {
		h, err := scanHead(id, tx.QueryRowContext(ctx, selectHead, id))
		if err != nil || h.eid == 0 {
			return err
		}
		return f(tx, h)
	})
}

// look runs f in a transaction that sees one state of the database.
func (j *Journal) look(ctx context.Context, f func(*sql.Tx) error) error {
	return j.reading(ctx, func() error {
		tx, err := j.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return f(tx)
	})
}

// reading returns the error of f, which reads from the database, as one of package journal.
func (j *Journal) reading(ctx context.Context, f func() error) error {
	if j.closed.Load() {
		return journal.ErrClosed
	}
	err := f()
	switch {
	case err != nil && j.closed.Load():
		return journal.ErrClosed // the database was closed during the call
	case errors.Is(err, sql.ErrTxDone):
		return calledOff(ctx) // database/sql ends the transaction with the context
	}
	return storeError(err)
}

func calledOff(ctx context.Context) error {
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, ctx.Err())
}

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
