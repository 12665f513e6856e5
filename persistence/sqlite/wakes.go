package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/persistence/internal/instant"
	"github.com/understudy-go/understudy/persistence/journal"
)

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
