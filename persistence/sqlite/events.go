package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	sqlite "modernc.org/sqlite"

	"github.com/understudy-go/understudy/persistence/journal"
)

const offsetPrefix = "sqlite:"

// Events implements [journal.EventReader]. It reads ahead in pages of up to 4096 records or about 1
// MiB. It holds no lock or connection of the database while the caller works.
//
// An offset is the number of the event among all that were ever stored in the database. No number
// is given twice, so offsets stay valid when events are deleted, and in every copy of the database
// that has the events. In an older copy, offsets beyond its last event are [journal.ErrInvalid]
// until it has that many events again. If you restore a backup, restore the projections to the same
// point too.
func (j *Journal) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		r, err := newReading(q, after)
		for err == nil && !r.done {
			err = j.look(ctx, func(tx *sql.Tx) error { return r.page(ctx, tx, &j.searches) })
			for i, e := range r.entries {
				if i > 0 && ctx.Err() != nil { // a page is long
					err = calledOff(ctx)
					break
				}
				if !yield(e.Entry, e.err) {
					return
				}
			}
		}
		if err != nil {
			yield(journal.Entry{}, hinted(fmt.Errorf("read events: %w", err)))
			return
		}
		j.searches.inVain(q, r.found, r.last)
	}
}

type reading struct {
	query   journal.Query
	found   int64 // the number of the last event found, or where the call began
	next    int64 // the remaining events have greater numbers
	last    int64 // the greatest number when the call began, -1 before that
	entries []readEntry
	done    bool
}

// A readEntry is an entry, or the place of a damaged one.
type readEntry struct {
	journal.Entry
	err error
}

func newReading(q journal.Query, after journal.Offset) (*reading, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	ord, err := parseOffset(after)
	return &reading{query: q, found: ord, next: ord, last: -1}, err
}

// page also keeps the entries before an error.
func (r *reading) page(ctx context.Context, tx *sql.Tx, s *searches) error {
	r.entries = r.entries[:0]
	if r.last < 0 {
		if err := r.begin(ctx, tx); err != nil {
			return err
		}
		r.next = s.skip(r.query, r.next)
	}
	query, args := r.statement()
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	size := 0
	var row numberedRow
	columns := append(row.columns(), &row.ord, &row.id)
	for size < pageBytes && rows.Next() {
		if err := rows.Scan(columns...); err != nil {
			return scanError(err)
		}
		r.entries = append(r.entries, r.entry(&row))
		size += len(row.payload)
	}
	r.done = size < pageBytes && len(r.entries) < pageRecords
	return rows.Err()
}

// selectLast returns the greatest number that an event ever had.
const selectLast = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'event'"

// begin finds out where the reading ends. Later events have greater numbers, because numbers are
// assigned, and become visible, in the order of the commits.
func (r *reading) begin(ctx context.Context, tx *sql.Tx) error {
	err := tx.QueryRowContext(ctx, selectLast).Scan(&r.last)
	if err != nil {
		return scanError(err)
	}
	if r.next > r.last {
		return fmt.Errorf("%w: offset %q is beyond the last event, %d: it belongs to another journal, or this is an older copy of the database; "+
			"begin again, or restore the reader's data too", journal.ErrInvalid, formatOffset(r.next), r.last)
	}
	return nil
}

// statement selects the entries of a page. An event whose entity is missing is also selected, so
// that the damage is noticed. Tombstones are events that no deletion hides. With a tag, they come
// from a second part of the statement, so that each part reads one range of an index.
func (r *reading) statement() (string, []any) {
	const order = " ORDER BY ord LIMIT ?3"
	args := []any{r.next, r.last, pageRecords}
	if r.query.Tag == "" {
		return r.part("event e", "e.ord", "") + order, args
	}
	tagged := func(tag string) string {
		return r.part("event_tag t CROSS JOIN event e ON e.ord = t.ord", "t.ord", "t.tag = "+tag+" AND ") // CROSS: in this order
	}
	return tagged("?4") + " UNION ALL " + tagged("'"+tombstoneTag+"'") + order, append(args, r.query.Tag)
}

func (r *reading) part(from, ord, where string) string {
	where += ord + " > ?1 AND " + ord + " <= ?2 AND (n.id IS NULL OR e.seq > n.deleted_to OR e.seq < 1)"
	if s := r.query.Slices; s != (journal.SliceRange{}) {
		where += fmt.Sprintf(" AND (n.id IS NULL OR %s(n.pid) BETWEEN %d AND %d)", sliceFunction, s.From, s.To-1)
	}
	return "SELECT " + eventColumns + ", " + ord + " AS ord, n.pid FROM " + from + " LEFT JOIN entity n ON n.id = e.eid WHERE " + where
}

type numberedRow struct {
	eventRow
	ord int64
	id  sql.NullString
}

func (r *reading) entry(row *numberedRow) readEntry {
	r.found, r.next = row.ord, row.ord
	record, err := decodeEvent(row.id.String, &row.eventRow)
	switch {
	case !row.id.Valid:
		record.Seq, err = seqOf(row), fmt.Errorf("%w: event %d belongs to no persistence id", journal.ErrCorrupt, row.ord)
	case err != nil:
		record.Seq = seqOf(row)
		err = fmt.Errorf("event %d, of %q: %w", row.ord, row.id.String, err)
	case r.query.Tag != "" && record.Seq != 0 && !slices.Contains(record.Tags, r.query.Tag):
		err = fmt.Errorf("%w: event %d is tabled with tag %q, which it has not", journal.ErrCorrupt, row.ord, r.query.Tag)
	}
	return readEntry{journal.Entry{ID: row.id.String, Offset: formatOffset(row.ord), Record: record}, hinted(err)}
}

// seqOf returns the sequence number in a damaged row, or 0 if no event can have it.
func seqOf(row *numberedRow) uint64 { return uint64(max(row.seq, 0)) }

func formatOffset(ord int64) journal.Offset {
	return journal.Offset(offsetPrefix + strconv.FormatInt(ord, 10))
}

func parseOffset(o journal.Offset) (int64, error) {
	if o == "" {
		return 0, nil
	}
	ord, err := strconv.ParseInt(strings.TrimPrefix(string(o), offsetPrefix), 10, 64)
	if err != nil || ord < 0 || formatOffset(ord) != o {
		return 0, fmt.Errorf("%w: %q is not an offset of an SQLite journal", journal.ErrInvalid, o)
	}
	return ord, nil
}

// A reader of some slices may find nothing for a long time beside a busy id of another slice, and
// starts from the same offset each time. The journal remembers ranges without results, so that it
// does not search them again.
const (
	worthRemembering = 1024 // events without a result
	searchesKept     = 256  // number of remembered searches
)

type search struct {
	query journal.Query
	after int64
}

// searches has the ranges without results. Numbers are assigned in the order of the commits, so no
// event will ever appear in them.
type searches struct {
	mu   sync.Mutex // guards upTo
	upTo map[search]int64
}

func (s *searches) skip(q journal.Query, after int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(after, s.upTo[search{q, after}])
}

func (s *searches) inVain(q journal.Query, after, last int64) {
	if last-after < worthRemembering {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.upTo == nil || len(s.upTo) >= searchesKept {
		s.upTo = map[search]int64{}
	}
	s.upTo[search{q, after}] = last
}

// sliceFunction is journal.SliceOf in SQL. With it SQLite skips the events of other slices without
// returning them, and the slice need not be stored.
const sliceFunction = "understudy_slice"

func init() { sqlite.MustRegisterDeterministicScalarFunction(sliceFunction, 1, sliceOf) }

func sliceOf(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	id, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("%s of a %T", sliceFunction, args[0])
	}
	return int64(journal.SliceOf(id)), nil
}
