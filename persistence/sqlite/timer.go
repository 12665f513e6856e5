package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/persistence/internal/instant"
	"github.com/understudy-go/understudy/persistence/journal"
)

type timerChange struct {
	values [8]driver.Value // as in setTimer
	remove bool
}

// The statements that change timers.
const (
	setTimer    = "INSERT OR REPLACE INTO timer (pid, key, due, slice, attempt, type, payload, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
	removeTimer = "DELETE FROM timer WHERE pid = ? AND key = ?"
)

const selectTimers = "SELECT key, due, slice, attempt, type, payload, crc FROM timer WHERE pid = ? ORDER BY due, key"

// encodeTimers returns changes of timers of id, and what they weigh. They share no memory with the
// result.
func encodeTimers(id string, changes []journal.TimerChange) (encoded []timerChange, weight int, err error) {
	if len(changes) == 0 {
		return nil, 0, nil
	}
	encoded = make([]timerChange, len(changes))
	slice := int64(journal.SliceOf(id))
	for i := range changes {
		c, e := &changes[i], &encoded[i]
		e.values[0], e.values[1], e.remove = id, c.Key, c.Remove
		weight++
		if c.Remove {
			continue
		}
		payload, err := encodePayload(c.Payload)
		if err != nil {
			return nil, 0, err
		}
		e.values = [...]driver.Value{id, c.Key, c.Due.UnixNano(), slice, int64(c.Attempt), c.Type, payload, int64(c.Checksum(id))} //nolint:gosec // the change is valid
		weight += len(payload) >> 10
	}
	return encoded, weight, nil
}

func (t *transaction) changeTimers(changes []timerChange) error {
	for i := range changes {
		c := &changes[i]
		stmt := &t.stmts.setTimer
		if c.remove {
			stmt = &t.stmts.removeTimer
		}
		t.dirty = true
		stmt.set(c.values[:len(stmt.args)]...)
		if _, err := stmt.exec(); err != nil {
			return err
		}
	}
	return nil
}

// Timers implements [journal.TimerStore].
func (j *Journal) Timers(ctx context.Context, id string) (timers []journal.Timer, err error) {
	if err = journal.ValidateID(id); err == nil {
		err = j.reading(ctx, func() error {
			timers, err = j.readTimers(ctx, id)
			return err
		})
	}
	return timers, wrap("read timers", id, err)
}

// readTimers needs no transaction: one statement sees one state of the database.
func (j *Journal) readTimers(ctx context.Context, id string) ([]journal.Timer, error) {
	stmt := j.timers.Load()
	if stmt == nil {
		var err error
		if stmt, err = j.readers.PrepareContext(ctx, selectTimers); err != nil {
			return nil, err
		}
		if !j.timers.CompareAndSwap(nil, stmt) {
			defer stmt.Close()
		}
	}
	rows, err := stmt.QueryContext(ctx, id)
	if err != nil {
		return nil, err
	}
	return timersOf(id, rows)
}

// maxClaimTimers is how many timers a claim has at most: it holds up all writers.
const maxClaimTimers = 16

func (t *transaction) readTimers(id string, claim *journal.Claim) error {
	rows, err := t.stmts.claimTimers.Query(id, maxClaimTimers+1)
	if err != nil {
		return err
	}
	claim.Timers, err = timersOf(id, rows)
	switch {
	case errors.Is(err, journal.ErrCorrupt), len(claim.Timers) > maxClaimTimers:
		claim.Timers, claim.TimersKnown = nil, false
		return nil
	}
	return err
}

func timersOf(id string, rows *sql.Rows) ([]journal.Timer, error) {
	defer rows.Close()
	var timers []journal.Timer
	for rows.Next() {
		var t journal.Timer
		var due, slice int64
		var crc uint32
		if err := rows.Scan(&t.Key, &due, &slice, &t.Attempt, &t.Type, &t.Payload, &crc); err != nil {
			return nil, scanError(err)
		}
		t.Due = time.Unix(0, due).UTC()
		if t.Checksum(id) != crc || slice != int64(journal.SliceOf(id)) {
			return nil, fmt.Errorf("%w: timer %q fails its checksum", journal.ErrCorrupt, t.Key)
		}
		timers = append(timers, t)
	}
	return timers, rows.Err()
}

// Now implements [journal.TimerStore]. It returns the time of the host, which all processes that
// have the file open share.
func (j *Journal) Now(ctx context.Context) (time.Time, error) {
	switch {
	case j.closed.Load():
		return time.Time{}, journal.ErrClosed
	case ctx.Err() != nil:
		return time.Time{}, calledOff(ctx)
	}
	return time.Now(), nil
}

// selectWakes reads index timer_wake alone, from the first wake after (?1, ?2) to the last of the
// page. Wakes of other slices are passed over in the index.
const selectWakes = `SELECT due, pid FROM timer INDEXED BY timer_wake
WHERE (due, pid) > (?1, ?2) AND due < ?3 AND slice BETWEEN ?4 AND ?5 GROUP BY due, pid ORDER BY due, pid LIMIT ?6`

// Wakes implements [journal.TimerStore]. It takes as long as reading the wakes of all slices up to
// the end of the page from an index.
func (j *Journal) Wakes(ctx context.Context, in journal.SliceRange, after journal.Wake, before time.Time, limit int) (wakes []journal.Wake, err error) {
	if err = (journal.Query{Slices: in}).Validate(); err == nil {
		err = j.look(ctx, func(tx *sql.Tx) error {
			wakes, err = readWakes(ctx, tx, in, after, before, max(limit, 0))
			return err
		})
	}
	if err != nil {
		return nil, hinted(fmt.Errorf("read wakes: %w", err))
	}
	return wakes, nil
}

func readWakes(ctx context.Context, tx *sql.Tx, in journal.SliceRange, after journal.Wake, before time.Time, limit int) ([]journal.Wake, error) {
	if in == (journal.SliceRange{}) {
		in.To = journal.Slices
	}
	rows, err := tx.QueryContext(ctx, selectWakes, instant.Nanoseconds(after.Due), after.ID, instant.Nanoseconds(before), in.From, in.To-1, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var wakes []journal.Wake
	for rows.Next() {
		var due int64
		var w journal.Wake
		if err := rows.Scan(&due, &w.ID); err != nil {
			return nil, scanError(err)
		}
		w.Due = time.Unix(0, due).UTC()
		wakes = append(wakes, w)
	}
	return wakes, rows.Err()
}
