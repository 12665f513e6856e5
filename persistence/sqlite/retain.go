package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

// selectUnread returns, of the records from ?2 to ?3 of entity ?1, which is in slice ?4, the first
// that some registered reader has not read, and the reader.
const selectUnread = `SELECT name, unread FROM (
	SELECT r.name, (SELECT e.seq FROM event e WHERE e.eid = ?1 AND e.seq BETWEEN ?2 AND ?3 AND e.ord > r.ord ORDER BY e.seq LIMIT 1) AS unread
	FROM reader r WHERE ?4 BETWEEN r.first AND r.last
) WHERE unread IS NOT NULL ORDER BY unread LIMIT 1`

const selectReaders = "SELECT name, first, last, ord, sec, nsec, crc FROM reader ORDER BY name"

// damage is [journal.ErrCorrupt] if a reader is damaged.
func readersIn(rows *sql.Rows, failure error) (all []journal.Reader, damage, err error) {
	if failure != nil {
		return nil, nil, scanError(failure)
	}
	defer rows.Close()
	for rows.Next() {
		var r journal.Reader
		var last int
		var ord, sec, nsec int64
		var crc uint32
		if err := rows.Scan(&r.Name, &r.Slices.From, &last, &ord, &sec, &nsec, &crc); err != nil {
			return nil, nil, scanError(err)
		}
		r.Slices.To, r.Time = last+1, time.Unix(sec, nsec).UTC()
		if r.Slices == (journal.SliceRange{To: journal.Slices}) {
			r.Slices = journal.SliceRange{}
		}
		if ord != 0 {
			r.Offset = formatOffset(ord)
		}
		damage = cmp.Or(damage, r.Verify(crc))
		all = append(all, r)
	}
	return all, damage, rows.Err()
}

// read returns the record up to which all registered readers have read, of those up to seq. If that
// is not seq, unread says why.
func (t *transaction) read(h *head, seq uint64) (to uint64, unread *journal.UnreadError, err error) {
	if _, damage, err := readersIn(t.stmts.registered.Query()); damage != nil || err != nil {
		return 0, nil, cmp.Or(err, damage)
	}
	var name string
	var first uint64
	err = t.stmts.unread.QueryRow(h.eid, h.deletedTo+1, seq, journal.SliceOf(h.id)).Scan(&name, &first)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return seq, nil, nil
	case err != nil:
		return 0, nil, scanError(err)
	}
	return first - 1, &journal.UnreadError{Reader: name, To: first - 1}, nil
}

// SaveReader implements [journal.Retainer].
func (j *Journal) SaveReader(ctx context.Context, r journal.Reader) error {
	if err := r.Validate(); err != nil {
		return wrap("save reader", r.Name, err)
	}
	ord, err := parseOffset(r.Offset)
	if err != nil {
		return wrap("save reader", r.Name, err)
	}
	if ord == 0 {
		r.Offset = "" // as it is read
	}
	return j.change(ctx, "save reader", r.Name, func(t *transaction) error {
		from, to := r.Bounds()
		return t.exec(t.stmts.saveReader, r.Name, from, to-1, ord, r.Time.Unix(), r.Time.Nanosecond(), r.Checksum())
	})
}

// RemoveReader implements [journal.Retainer].
func (j *Journal) RemoveReader(ctx context.Context, name string) error {
	return j.change(ctx, "remove reader", name, func(t *transaction) error { return t.exec(t.stmts.removeReader, name) })
}

// Readers implements [journal.Retainer].
func (j *Journal) Readers(ctx context.Context) ([]journal.Reader, error) {
	all, _, err := j.registered(ctx)
	if err != nil {
		return nil, hinted(fmt.Errorf("list readers: %w", err))
	}
	return all, nil
}

func (j *Journal) registered(ctx context.Context) (all []journal.Reader, damage, err error) {
	err = j.look(ctx, func(tx *sql.Tx) (err error) {
		all, damage, err = readersIn(tx.QueryContext(ctx, selectReaders))
		return err
	})
	return all, damage, err
}

// End implements [journal.Retainer].
func (j *Journal) End(ctx context.Context) (end journal.Offset, err error) {
	err = j.look(ctx, func(tx *sql.Tx) error {
		var last int64
		if err := tx.QueryRowContext(ctx, selectLast).Scan(&last); err != nil {
			return scanError(err)
		}
		if last > 0 {
			end = formatOffset(last)
		}
		return nil
	})
	if err != nil {
		return "", hinted(fmt.Errorf("find the end: %w", err))
	}
	return end, nil
}

// Head implements [journal.Retainer].
func (j *Journal) Head(ctx context.Context, id string) (claim journal.Claim, err error) {
	err = j.view(ctx, id, func(tx *sql.Tx, h head) error {
		if h.forgotten() {
			return journal.ErrForgotten
		}
		claim = journal.Claim{Epoch: h.epoch, LastSeq: h.seq, DeletedTo: h.deletedTo}
		return nil
	})
	return claim, wrap("look at", id, err)
}
