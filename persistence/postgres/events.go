package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Events implements [journal.EventReader]. Events are ordered by the id of the transaction that
// stored them, and within a transaction by request. An event is shown once every transaction with a
// lower id has ended. A slow transaction therefore delays readers, but is never skipped; see
// [Journal.Lag].
//
// It reads ahead in pages, and holds no connection while the caller works.
func (j *Journal) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		s := scan{query: q}
		err := s.from(after)
		if err == nil {
			err = findEnd(ctx, j, &s)
		}
		for err == nil && !s.done {
			s.entries = nil
			err = read(ctx, j, func(ctx context.Context, conn *pgxpool.Conn) error { return readEntries(ctx, j, conn, &s) })
			for _, e := range s.entries {
				if !yield(e.Entry, e.err) {
					return
				}
			}
		}
		if err != nil {
			yield(journal.Entry{}, fmt.Errorf("read events after %q: %w", after, err))
		}
	}
}

type scan struct {
	query   journal.Query
	at      position
	end     uint64 // the first transaction that is not shown
	entries []readEntry
	size    pager
	done    bool
}

// A readEntry is an entry, or the place of a damaged one.
type readEntry struct {
	journal.Entry
	err error
}

type position struct{ xid, ord uint64 }

func (p position) String() string { return fmt.Sprintf("pg:%d.%d", p.xid, p.ord) }

// parsePosition accepts only the results of String.
func parsePosition(offset journal.Offset) (p position, err error) {
	if offset == "" {
		return position{}, nil
	}
	rest, ours := strings.CutPrefix(string(offset), "pg:")
	xid, ord, found := strings.Cut(rest, ".")
	p.xid, err = strconv.ParseUint(xid, 10, 64)
	if err == nil {
		p.ord, err = strconv.ParseUint(ord, 10, 63)
	}
	if err != nil || !ours || !found || p.String() != string(offset) {
		return position{}, fmt.Errorf("%w: %q is not an offset of this journal", journal.ErrInvalid, string(offset))
	}
	return p, nil
}

func (s *scan) from(after journal.Offset) (err error) {
	if err := s.query.Validate(); err != nil {
		return err
	}
	s.at, err = parsePosition(after)
	return err
}

// readEntries also keeps the events before an error.
func readEntries(ctx context.Context, j *Journal, conn *pgxpool.Conn, s *scan) error {
	filter, more := s.filter()
	args := append([]any{strconv.FormatUint(s.at.xid, 10), int64(s.at.ord), strconv.FormatUint(s.end, 10), int32(s.size.begin())}, more...)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := conn.Query(ctx, strings.Replace(j.statements.events, "{filter}", filter, 1), args...)
	if err != nil {
		return readError(ctx, err)
	}
	defer rows.Close()
	var row storedRow
	var id string
	columns := append([]any{&id, &s.at.xid, &s.at.ord}, row.columns()...)
	for rows.Next() {
		row.record = journal.Record{}
		if err := rows.Scan(columns...); err != nil {
			misfit, ok := errors.AsType[pgx.ScanArgError](err)
			if !ok || misfit.ColumnIndex < placeColumns {
				return readError(ctx, err)
			}
			s.add(id, journal.Record{Seq: row.record.Seq}, readError(ctx, err))
			return nil // the rest is another page
		}
		r, err := row.decode(id)
		if err != nil {
			r.Seq = row.record.Seq
		}
		s.add(id, r, err)
		if s.size.add(row.record.Payload) {
			cancel()
			return nil
		}
	}
	s.done = s.size.last()
	return readError(ctx, rows.Err())
}

// placeColumns is how many of the scanned columns say where an event is.
const placeColumns = 3

func (s *scan) add(id string, r journal.Record, err error) {
	if err != nil {
		err = fmt.Errorf("event %d of %q: %w", r.Seq, id, err)
	}
	s.entries = append(s.entries, readEntry{journal.Entry{ID: id, Offset: journal.Offset(s.at.String()), Record: r}, err})
}

func (s *scan) filter() (sql string, args []any) {
	if s.query.Tag != "" {
		args = append(args, s.query.Tag)
		sql += " AND e.tags && ARRAY[$5::text, '" + tombstoneTag + "']"
	}
	if r := s.query.Slices; r != (journal.SliceRange{}) {
		sql += fmt.Sprintf(" AND e.slice >= $%d::int AND e.slice < $%d::int", len(args)+5, len(args)+6)
		args = append(args, int32(r.From), int32(r.To))
	}
	return sql, args
}

// horizonPatience bounds how long a call waits for open transactions that hide stored events. Most
// transactions end much sooner.
const horizonPatience = 100 * time.Millisecond

// findEnd finds the end of a call. It is the last event stored now if all earlier transactions end
// soon, and otherwise the oldest running transaction.
func findEnd(ctx context.Context, j *Journal, s *scan) error {
	var h horizons
	if err := look(ctx, j, &h); err != nil {
		return err
	}
	if err := h.check(s.at); err != nil {
		return err
	}
	// Transactions get ascending ids when they begin to write, and commit in any order. An event of
	// an older transaction may appear as long as one runs, so nothing after the oldest is shown.
	// What is stored from now on is left to the next call, because beside busy writers a call would
	// not end.
	stored := h.last
	patience := time.NewTimer(horizonPatience)
	defer patience.Stop()
	for pause := time.Millisecond; h.oldest <= stored; pause *= 2 {
		select {
		case <-time.After(pause):
		case <-patience.C:
			s.end = h.oldest
			return nil
		case <-ctx.Done():
			return unavailable(ctx)
		}
		if err := look(ctx, j, &h); err != nil {
			return err
		}
	}
	s.end = h.oldest
	return nil
}

type horizons struct {
	oldest uint64 // the oldest one that may still be running
	next   uint64 // the first one that has not begun
	last   uint64 // the last one that has stored an event
}

func look(ctx context.Context, j *Journal, h *horizons) error {
	return read(ctx, j, func(ctx context.Context, conn *pgxpool.Conn) error {
		return readError(ctx, conn.QueryRow(ctx, j.statements.horizon).Scan(&h.oldest, &h.next, &h.last))
	})
}

// check fails if the transactions of events or of an offset belong to another server.
func (h *horizons) check(after position) error {
	switch {
	case h.last >= h.next:
		return fmt.Errorf("%w: events of transaction %d are there, but this server has only come to %d: they were copied from another one; "+
			"see Moving to another server in the package's documentation", journal.ErrUnavailable, h.last, h.next)
	case after.xid >= h.next:
		return fmt.Errorf("%w: %s is not an offset of this journal: its server has only come to transaction %d", journal.ErrInvalid, after, h.next)
	}
	return nil
}

// Lag returns the age of the oldest event that [Journal.Events] does not show yet, by the clock of
// its writer. It returns 0 if Events shows all events. A long lag means that some transaction in
// the server has been open for that long. To find it, look at backend_xid in pg_stat_activity, and
// at pg_prepared_xacts for prepared transactions.
func (j *Journal) Lag(ctx context.Context) (lag time.Duration, err error) {
	err = read(ctx, j, func(ctx context.Context, conn *pgxpool.Conn) error {
		var microseconds int64
		err := conn.QueryRow(ctx, j.statements.lag).Scan(&microseconds)
		lag = time.Duration(microseconds) * time.Microsecond
		return readError(ctx, err)
	})
	if err != nil {
		return 0, fmt.Errorf("lag of events: %w", err)
	}
	return lag, nil
}
