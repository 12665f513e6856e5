package postgres

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence"
)

// Events implements [persistence.EventReader]. The order is that of the transactions which
// stored the events, by their ids, and within one that of its requests. An event is shown
// once every transaction with a lower id has ended; so a slow one holds readers back, but
// is never passed over, see [Journal.Lag].
//
// It reads ahead by pages of at most some hundred events, and holds no connection while the
// caller works.
func (j *Journal) Events(ctx context.Context, q persistence.Query, after persistence.Offset) iter.Seq2[persistence.Entry, error] {
	return func(yield func(persistence.Entry, error) bool) {
		s := scan{query: q}
		err := s.from(after)
		for err == nil && !s.done {
			s.entries = nil
			err = j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error { return j.readEvents(ctx, conn, &s) })
			for _, e := range s.entries {
				if !yield(e, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(persistence.Entry{}, fmt.Errorf("read events after %q: %w", after, err))
		}
	}
}

// A scan is one call of [Journal.Events].
type scan struct {
	query   persistence.Query
	at      position
	end     string // the first transaction that is not shown, once it is known
	entries []persistence.Entry
	done    bool
}

// A position is what an [persistence.Offset] of this journal says.
type position struct{ xid, ord uint64 }

func (p position) String() string { return fmt.Sprintf("pg:%d.%d", p.xid, p.ord) }

// parsePosition understands what String returns, and nothing else.
func parsePosition(offset persistence.Offset) (p position, err error) {
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
		return position{}, fmt.Errorf("%w: %q is not an offset of this journal", persistence.ErrInvalid, string(offset))
	}
	return p, nil
}

func (s *scan) from(after persistence.Offset) (err error) {
	if err := s.query.Validate(); err != nil {
		return err
	}
	s.at, err = parsePosition(after)
	return err
}

// readEvents reads the next page, up to an error.
func (j *Journal) readEvents(ctx context.Context, conn *pgxpool.Conn, s *scan) error {
	if s.end == "" {
		if err := j.findEnd(ctx, conn, s); err != nil {
			return err
		}
	}
	filter, more := s.filter()
	args := append([]any{strconv.FormatUint(s.at.xid, 10), int64(s.at.ord), s.end, int32(pageRecords), int64(pageBytes)}, more...)
	rows, err := conn.Query(ctx, strings.Replace(j.statements.events, "{filter}", filter, 1), args...)
	if err != nil {
		return readError(ctx, err)
	}
	defer rows.Close()
	var row storedRow
	var id, xid string
	columns := append([]any{&id, &xid, &s.at.ord}, row.columns()...)
	n, size := 0, 0
	for rows.Next() {
		row.record = persistence.Record{}
		if err := rows.Scan(columns...); err != nil {
			return readError(ctx, err)
		}
		if s.at.xid, err = strconv.ParseUint(xid, 10, 64); err != nil {
			return fmt.Errorf("%w: transaction %q: %w", persistence.ErrCorrupt, xid, err)
		}
		r, err := row.decode(id)
		if err != nil {
			return fmt.Errorf("%w (of %q)", err, id)
		}
		s.entries = append(s.entries, persistence.Entry{ID: id, Offset: persistence.Offset(s.at.String()), Record: r})
		n, size = n+1, size+len(r.Payload)
	}
	s.done = n < pageRecords && size < pageBytes
	return readError(ctx, rows.Err())
}

// filter returns what the query adds to [eventsPage].
func (s *scan) filter() (sql string, args []any) {
	if s.query.Tag != "" {
		args = append(args, s.query.Tag)
		sql += " AND e.tags @> ARRAY[$6::text]"
	}
	if r := s.query.Slices; r != (persistence.SliceRange{}) {
		sql += fmt.Sprintf(" AND e.slice >= $%d::int AND e.slice < $%d::int", len(args)+6, len(args)+7)
		args = append(args, int32(r.From), int32(r.To))
	}
	return sql, args
}

// findEnd finds how far a call may go: all transactions before that have ended when it
// begins. It refuses what tells that the transactions are those of another server.
func (j *Journal) findEnd(ctx context.Context, conn *pgxpool.Conn, s *scan) error {
	var oldest, next, last string
	if err := conn.QueryRow(ctx, j.statements.horizon).Scan(&oldest, &next, &last); err != nil {
		return readError(ctx, err)
	}
	first, err1 := strconv.ParseUint(next, 10, 64)
	newest, err2 := strconv.ParseUint(last, 10, 64)
	switch {
	case err1 != nil || err2 != nil:
		return fmt.Errorf("%w: transactions %q and %q", persistence.ErrCorrupt, next, last)
	case newest >= first:
		return fmt.Errorf("%w: events of transaction %d are there, but this server has only come to %d: they were copied from another one; "+
			"see Moving to another server in the package's documentation", persistence.ErrUnavailable, newest, first)
	case s.at.xid >= first:
		return fmt.Errorf("%w: %s is not an offset of this journal: its server has only come to transaction %d", persistence.ErrInvalid, s.at, first)
	}
	s.end = oldest
	return nil
}

// Lag returns how long ago the oldest event was stored that [Journal.Events] does not show
// yet, by the clock of its writer; 0 when there is none. A reader that lags by more than
// moments waits for a transaction that has been open for as long, anywhere in the
// server: pg_stat_activity tells whose, by its backend_xid, and pg_prepared_xacts of those
// that were prepared.
func (j *Journal) Lag(ctx context.Context) (lag time.Duration, err error) {
	err = j.use(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
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
