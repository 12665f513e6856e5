package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/internal/pause"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Forget implements [journal.Forgetter]. What it deletes is overwritten with zeros in the file, and
// the write-ahead log is emptied. Very many records are deleted in several transactions. A reader
// that is in the middle of a page, in any process, delays the end; it waits for readers until ctx
// is done, and then fails with [journal.ErrUnavailable].
func (j *Journal) Forget(ctx context.Context, id string) error {
	var epoch uint64
	err := j.change(ctx, "forget", id, func(t *transaction) (err error) { //nolint:contextcheck // one commit is of several callers
		epoch, err = t.bury(id)
		return err
	})
	for more := epoch > 0; more && err == nil; {
		err = j.change(ctx, "forget", id, func(t *transaction) (err error) {
			more, err = t.eraseSome(id, epoch)
			return err
		})
	}
	j.Notify()
	if err == nil && epoch > 0 {
		err = j.wipe(ctx, id)
	}
	if err == nil && epoch > 0 {
		err = wrap("forget", id, j.emptyLog(ctx))
	}
	return err
}

// A forgotten id is stored as deleted beyond its last record. A program of a version that does not
// know this takes its events for lost, and does not write.
func (h *head) forgotten() bool { return h.deletedTo > h.seq }

// bury makes id a forgotten one, if it exists, and returns its epoch.
func (t *transaction) bury(id string) (epoch uint64, err error) {
	h, err := t.head(id)
	if err != nil || h.eid == 0 || h.forgotten() {
		return h.epoch, err
	}
	if h.epoch, err = journal.NextEpoch(h.epoch, journal.Bounds{}); err != nil {
		return 0, err
	}
	h.deletedTo, h.writer = h.seq+1, journal.WriterID{}
	for _, step := range []func() error{
		func() error { return t.saveHead(&h) },
		func() error { return t.exec(t.stmts.deleteTombstoneTag, h.eid) },
		func() error { return t.exec(t.stmts.deleteTombstone, h.eid) },
		func() error { return t.insertTombstone(&h) },
		func() error { return t.exec(t.stmts.deleteSnapshots, h.eid, h.seq, 0) },
		func() error { return t.exec(t.stmts.deleteTimers, id) },
	} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return h.epoch, nil
}

// tombstoneTag is the tag of all tombstones in table event_tag. No event can have it.
const tombstoneTag = ""

func (t *transaction) insertTombstone(h *head) error {
	tombstone := journal.Tombstone(h.epoch)
	var row insertion
	if err := row.encode(h.id, &tombstone); err != nil {
		return err
	}
	row.tags = []string{tombstoneTag}
	return t.insertEvent(h.eid, &row)
}

// eraseSome deletes some of the events of id, unless it has been revived, and reports whether there
// are more.
func (t *transaction) eraseSome(id string, epoch uint64) (more bool, err error) {
	h, err := t.head(id)
	if err != nil || h.epoch != epoch || !h.forgotten() {
		return false, err
	}
	return t.deleteHidden(&h)
}

// Revive implements [journal.Forgetter].
func (j *Journal) Revive(ctx context.Context, id string) error {
	for more := true; more; {
		err := j.change(ctx, "revive", id, func(t *transaction) error {
			h, err := t.head(id)
			if more = false; err != nil || !h.forgotten() {
				return err
			}
			if more, err = t.deleteHidden(&h); more || err != nil {
				return err
			}
			h.seq, h.deletedTo = 0, 0
			return t.saveHead(&h)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// emptyLog moves the write-ahead log into the database, where the pages that it has replace their
// former content, and truncates it.
func (j *Journal) emptyLog(ctx context.Context) error {
	for delay := time.Millisecond; ; delay = min(2*delay, 100*time.Millisecond) {
		var busy, pages, moved int
		err := j.reading(ctx, func() error {
			return j.readers.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
		})
		if err != nil || busy == 0 {
			return err
		}
		if pause.For(ctx, delay) != nil {
			return fmt.Errorf("%w: forgotten, but a reader keeps it in the write-ahead log: forget it again: %w", journal.ErrUnavailable, context.Cause(ctx))
		}
	}
}
