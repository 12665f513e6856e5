package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/internal/instant"
	"github.com/understudy-go/understudy/persistence/journal"
)

type timerRow struct {
	key     string
	due     int64
	attempt int64
	typ     string
	payload []byte
	crc     int32
	remove  bool // only key counts
}

// encodeTimers returns what changes of timers of id lead to, one row for each key: a statement can
// change a row only once. The result shares no memory with changes.
func encodeTimers(id string, changes []journal.TimerChange) ([]timerRow, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	rows := make([]timerRow, 0, len(changes))
	of := make(map[string]int, len(changes))
	for i := range changes {
		row, err := encodeTimer(id, &changes[i])
		if err != nil {
			return nil, err
		}
		if n, again := of[row.key]; again {
			rows[n] = row
			continue
		}
		of[row.key] = len(rows)
		rows = append(rows, row)
	}
	return rows, nil
}

func encodeTimer(id string, c *journal.TimerChange) (timerRow, error) {
	if c.Remove {
		return timerRow{key: c.Key, remove: true}, nil
	}
	payload, err := encodePayload(c.Payload)
	if err != nil {
		return timerRow{}, err
	}
	return timerRow{key: c.Key, due: c.Due.UnixNano(), attempt: int64(c.Attempt), typ: c.Type, payload: payload, crc: int32(c.Checksum(id))}, nil
}

func timerArguments(jobs []*job) []any {
	var (
		requests, dues, attempts []int64
		keys, types              []string
		payloads                 [][]byte
		crcs                     []int32

		removals []int64
		removed  []string
	)
	for i, job := range jobs {
		for k := range job.Work.timers {
			t := &job.Work.timers[k]
			if t.remove {
				removals, removed = append(removals, int64(i)+1), append(removed, t.key)
				continue
			}
			requests, keys, dues, attempts = append(requests, int64(i)+1), append(keys, t.key), append(dues, t.due), append(attempts, t.attempt)
			types, payloads, crcs = append(types, t.typ), append(payloads, t.payload), append(crcs, t.crc)
		}
	}
	return []any{requests, keys, dues, attempts, types, payloads, crcs, removals, removed}
}

// Timers implements [journal.TimerStore].
func (j *Journal) Timers(ctx context.Context, id string) (timers []journal.Timer, err error) {
	err = j.view(ctx, "read timers", id, func(ctx context.Context, conn *pgxpool.Conn) error {
		timers, err = readTimers(ctx, conn, j.statements.timers, id)
		return err
	})
	return timers, err
}

func readTimers(ctx context.Context, conn *pgxpool.Conn, query, id string) ([]journal.Timer, error) {
	rows, err := conn.Query(ctx, query, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var timers []journal.Timer
	for rows.Next() {
		var r storedTimer
		if err := rows.Scan(r.columns()...); err != nil {
			return nil, err
		}
		t, err := r.check(id)
		if err != nil {
			return nil, err
		}
		timers = append(timers, t)
	}
	return timers, rows.Err()
}

type storedTimer struct {
	journal.Timer
	due   int64
	slice int
	crc   int32
}

func (r *storedTimer) columns() []any {
	return []any{&r.Key, &r.due, &r.slice, &r.Attempt, &r.Type, &r.Payload, &r.crc}
}

func (r *storedTimer) check(id string) (journal.Timer, error) {
	r.Due = time.Unix(0, r.due).UTC()
	if int32(r.Checksum(id)) != r.crc || r.slice != journal.SliceOf(id) {
		return journal.Timer{}, fmt.Errorf("%w: timer %q fails its checksum", journal.ErrCorrupt, r.Key)
	}
	return r.Timer, nil
}

// Now implements [journal.TimerStore]. It asks the server.
func (j *Journal) Now(ctx context.Context) (now time.Time, err error) {
	err = read(ctx, j, func(ctx context.Context, conn *pgxpool.Conn) error {
		return readError(ctx, conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now))
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("time of the server: %w", err)
	}
	return now, nil
}

// Wakes implements [journal.TimerStore]. It takes as long as reading the wakes of all slices up to
// the end of the page from an index.
func (j *Journal) Wakes(ctx context.Context, in journal.SliceRange, after journal.Wake, before time.Time, limit int) (wakes []journal.Wake, err error) {
	if err = (journal.Query{Slices: in}).Validate(); err == nil {
		err = read(ctx, j, func(ctx context.Context, conn *pgxpool.Conn) error {
			wakes, err = j.readWakes(ctx, conn, in, after, before, limit)
			return readError(ctx, err)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read wakes: %w", err)
	}
	return wakes, nil
}

func (j *Journal) readWakes(ctx context.Context, conn *pgxpool.Conn, in journal.SliceRange, after journal.Wake, before time.Time, limit int) ([]journal.Wake, error) {
	if in == (journal.SliceRange{}) {
		in.To = journal.Slices
	}
	batch := &pgx.Batch{}
	batch.Queue(inOrder)
	batch.Queue(j.statements.wakes,
		instant.Nanoseconds(after.Due), after.ID, instant.Nanoseconds(before), int16(in.From), int16(in.To-1), int64(max(limit, 0)))
	results := conn.SendBatch(ctx, batch)
	defer results.Close()
	if _, err := results.Exec(); err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (w journal.Wake, err error) {
		var due int64
		err = row.Scan(&due, &w.ID)
		w.Due = time.Unix(0, due).UTC()
		return w, err
	})
}
