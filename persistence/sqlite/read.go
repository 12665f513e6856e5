package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/understudy-go/understudy/persistence"
)

// A page ends after so many records, or so many bytes.
const (
	pageRecords = 256
	pageBytes   = 1 << 20
)

// Read implements [persistence.Journal]. It reads ahead by pages of at most some hundred
// records and holds nothing of the database while the caller works.
func (j *Journal) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[persistence.Record, error] {
	return func(yield func(persistence.Record, error) bool) {
		for next, first := max(from, 1), true; ; first = false {
			p, err := j.readPage(ctx, id, next, to, first)
			for _, r := range p.records {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(persistence.Record{}, wrap("read", id, err))
				return
			}
			if next = p.next; next > p.last {
				return
			}
			to = p.last
		}
	}
}

// A page is a piece of what was asked for.
type page struct {
	records []persistence.Record
	next    uint64 // where to go on, beyond last at the end
	last    uint64 // the last record that was asked for and is there
}

// readPage reads what it can before an error, too. Only the first page may begin later
// than asked for, after what has been deleted.
func (j *Journal) readPage(ctx context.Context, id string, from, to uint64, first bool) (p page, err error) {
	p.next = 1 // of an unknown id there is nothing
	err = j.view(ctx, id, func(tx *sql.Tx, h head) error {
		p = page{next: max(from, h.deletedTo+1), last: min(to, h.seq)}
		if p.next > from && !first {
			return fmt.Errorf("%w: record %d was deleted while they were read; read again", persistence.ErrUnavailable, from)
		}
		if p.next > p.last {
			return nil
		}
		return p.fill(ctx, tx, h)
	})
	return p, err
}

// fill reads records from p.next on.
func (p *page) fill(ctx context.Context, tx *sql.Tx, h head) error {
	rows, err := tx.QueryContext(ctx, "SELECT "+eventColumns+" FROM event e WHERE e.eid = ? AND e.seq BETWEEN ? AND ? ORDER BY e.seq LIMIT ?",
		h.eid, p.next, p.last, pageRecords)
	if err != nil {
		return err
	}
	defer rows.Close()
	size := 0
	for size < pageBytes && rows.Next() {
		var row eventRow
		if err := row.scan(rows); err != nil {
			return err
		}
		if row.seq != p.next {
			return missing(p.next)
		}
		r, err := decodeEvent(h.id, &row)
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
	return fmt.Errorf("%w: record %d is missing", persistence.ErrCorrupt, seq)
}

// view runs f with the head of id in a transaction that sees one state of the database.
// It does nothing when there is no such id.
func (j *Journal) view(ctx context.Context, id string, f func(*sql.Tx, head) error) error {
	if err := persistence.ValidateID(id); err != nil {
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
	if j.closed.Load() {
		return persistence.ErrClosed
	}
	err := j.lookOpen(ctx, f)
	switch {
	case err != nil && j.closed.Load():
		return persistence.ErrClosed // the database was closed under it
	case errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("%w: %w", persistence.ErrUnavailable, ctx.Err()) // database/sql ends the transaction with the context
	}
	return storeError(err)
}

func (j *Journal) lookOpen(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := j.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return f(tx)
}
