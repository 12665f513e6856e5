package postgres

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Read implements [journal.Journal]. It reads ahead in pages of about 1 MiB, and holds no
// connection while the caller works.
func (j *Journal) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		p := page{id: id, next: max(from, 1), last: to}
		for {
			p.records = p.records[:0]
			err := j.view(ctx, "read", id, func(ctx context.Context, conn *pgxpool.Conn) error { return j.readPage(ctx, conn, &p) })
			for _, r := range p.records {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Record{}, err)
				return
			}
			if p.next > p.last {
				return
			}
		}
	}
}

type page struct {
	id      string
	begun   bool // an earlier page has been read
	size    pager
	records []journal.Record
	next    uint64 // the next record to read; beyond last at the end
	last    uint64 // the last requested record; once begun, the last requested record that exists
}

// readPage also returns the records before an error. Only the first page may begin later than
// requested, after the deleted records. The head and the records are read in one request, but not
// in one snapshot: if records are deleted in between, explainGap checks again.
func (j *Journal) readPage(ctx context.Context, conn *pgxpool.Conn, p *page) error {
	if p.next > p.last {
		return nil
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := p.size.begin()
	p.records = slices.Grow(p.records, limit)
	batch := &pgx.Batch{}
	if !p.begun {
		batch.Queue(j.statements.head, p.id)
	}
	batch.Queue(j.statements.read, p.id, min(clamp(p.next), math.MaxInt64-pageRecords), clamp(p.last), int32(limit))
	results := conn.SendBatch(reading, batch)
	err := j.readResults(reading, results, p)
	if p.size.cut {
		cancel()
	}
	if e := results.Close(); err == nil && e != nil && !p.size.cut {
		err = readError(reading, e)
	}
	if gap, missing := err.(missingError); missing { //nolint:errorlint // it is not wrapped
		return j.explainGap(ctx, conn, p.id, gap)
	}
	return err
}

func (j *Journal) readResults(ctx context.Context, results pgx.BatchResults, p *page) error {
	if !p.begun {
		h, known, err := scanHead(ctx, p.id, results.QueryRow())
		if err != nil {
			return err
		}
		p.begun = true
		if !known {
			p.next, p.last = 1, 0
			return nil
		}
		p.next, p.last = max(p.next, h.deletedTo+1), min(p.last, h.seq)
	}
	rows, err := results.Query()
	if err != nil {
		return readError(ctx, err)
	}
	return p.fill(ctx, rows)
}

func (p *page) fill(ctx context.Context, rows pgx.Rows) error {
	var row storedRow
	columns := row.columns()
	for rows.Next() {
		row.record = journal.Record{}
		if err := rows.Scan(columns...); err != nil {
			return readError(ctx, err)
		}
		end := p.size.add(row.record.Payload)
		if row.record.Seq > p.last {
			break // it was appended after the head was read
		}
		if row.record.Seq != p.next {
			return missingError(p.next)
		}
		r, err := row.decode(p.id)
		if err != nil {
			return err
		}
		p.records = append(p.records, r)
		p.next++
		if end {
			return nil
		}
	}
	if rows.Close(); rows.Err() != nil {
		return readError(ctx, rows.Err())
	}
	if p.next <= p.last && p.size.last() {
		return missingError(p.next)
	}
	return nil
}

// A missingError is the sequence number of a record that is missing.
type missingError uint64

func (e missingError) Error() string { return fmt.Sprintf("record %d is missing", uint64(e)) }

// explainGap returns the error for a missing record, which may have been deleted meanwhile.
func (j *Journal) explainGap(ctx context.Context, conn *pgxpool.Conn, id string, gap missingError) error {
	h, _, err := j.head(ctx, conn, id)
	switch {
	case err != nil:
		return err
	case h.deletedTo >= uint64(gap):
		return fmt.Errorf("%w: record %d was deleted while they were read; read again", journal.ErrUnavailable, uint64(gap))
	}
	return fmt.Errorf("%w: %w", journal.ErrCorrupt, gap)
}

func (j *Journal) view(ctx context.Context, op, id string, f func(context.Context, *pgxpool.Conn) error) error {
	if err := journal.ValidateID(id); err != nil {
		return wrap(op, id, err)
	}
	return wrap(op, id, read(ctx, j, func(ctx context.Context, conn *pgxpool.Conn) error {
		return readError(ctx, f(ctx, conn))
	}))
}

const (
	// firstRecords bounds the first page, because the size of the records is still unknown;
	// pageRecords bounds the later ones.
	firstRecords = 128
	pageRecords  = 4096
	pageBytes    = 1 << 20
	// cutBytes is where a page is cut off if it is much larger than intended. The rest is cancelled
	// at the server, which takes 0.1 s.
	cutBytes = 4 * pageBytes
)

// A pager computes how many records to request, so that a page has about [pageBytes]. It estimates
// from the sizes of the previous records. Letting the server add up the sizes would make the query
// a third slower.
type pager struct {
	limit   int // how many records were requested
	records int
	bytes   int
	cut     bool // the page ends earlier, because it is too large
}

func (p *pager) begin() int {
	limit := firstRecords
	if p.records > 0 {
		limit = min(max(pageBytes*p.records/max(p.bytes, 1), 1), pageRecords)
	}
	*p = pager{limit: limit}
	return limit
}

// add counts a record, and reports whether the page must end with it.
func (p *pager) add(payload []byte) (end bool) {
	p.records++
	p.bytes += len(payload)
	p.cut = p.bytes >= cutBytes && p.records < p.limit
	return p.cut
}

func (p *pager) last() bool { return !p.cut && p.records < p.limit }
