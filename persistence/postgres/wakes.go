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
