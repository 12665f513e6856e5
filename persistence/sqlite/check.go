package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/understudy-go/understudy/persistence/journal"
)

const maxFindings = 100

// Check reads the whole database. If it finds damage, it returns an error that wraps
// [journal.ErrCorrupt] and names up to 100 faults; otherwise it returns nil. It checks the pages
// and indexes of the database, the head record of each persistence id, and each event, snapshot and
// timer with its checksum. It also looks for rows that belong to no id. Any error other than
// ErrCorrupt means that the check could not be completed.
//
// Check may run while the journal is in use: it does not block writers. It takes as long as reading
// the file. Run it after a crash of the machine, before a backup, and from time to time, because
// damage in data that is never read stays unnoticed otherwise.
func (j *Journal) Check(ctx context.Context) error {
	c := &check{j: j, ctx: ctx}
	for _, look := range []func() error{c.pages, c.orphans, c.ids, c.registered} {
		if err := look(); err != nil {
			return fmt.Errorf("check: %w", err)
		}
	}
	if len(c.found) == 0 {
		return nil
	}
	return fmt.Errorf("check: %w\nrestore a backup", errors.Join(c.found...))
}

type check struct {
	j     *Journal
	ctx   context.Context
	found []error // each wraps ErrCorrupt
}

// report collects err if it is damage, and returns any other error.
func (c *check) report(err error) error {
	switch {
	case err == nil:
	case !errors.Is(err, journal.ErrCorrupt):
		return err
	case len(c.found) < maxFindings:
		if d, is := errors.AsType[damage](err); is {
			err = d.error // the caller of Check reads it
		}
		c.found = append(c.found, err)
	}
	return nil
}

func (c *check) pages() error {
	return c.eachText(fmt.Sprintf("PRAGMA integrity_check(%d)", maxFindings), func(finding string) error {
		if finding == "ok" {
			return nil
		}
		return fmt.Errorf("%w: %s", journal.ErrCorrupt, finding)
	})
}

// orphans looks for rows that no reader would ever reach.
func (c *check) orphans() error {
	for what, query := range map[string]string{
		"events of no persistence id":    "SELECT DISTINCT eid FROM event WHERE eid NOT IN (SELECT id FROM entity)",
		"snapshots of no persistence id": "SELECT DISTINCT eid FROM snapshot WHERE eid NOT IN (SELECT id FROM entity)",
		"events after the last":          "SELECT pid FROM entity n WHERE EXISTS (SELECT 1 FROM event e WHERE e.eid = n.id AND e.seq > n.seq)",
		"snapshots after the last event": "SELECT pid FROM entity n WHERE EXISTS (SELECT 1 FROM snapshot s WHERE s.eid = n.id AND s.seq > n.seq)",
		"timers of no persistence id":    "SELECT DISTINCT pid FROM timer WHERE pid NOT IN (SELECT pid FROM entity)",
		"tags of no event":               "SELECT DISTINCT tag FROM event_tag WHERE ord NOT IN (SELECT ord FROM event)",
	} {
		err := c.eachText(query, func(of string) error { return fmt.Errorf("%w: there are %s: %q", journal.ErrCorrupt, what, of) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *check) registered() error {
	_, damage, err := c.j.registered(c.ctx)
	return errors.Join(err, c.report(damage))
}

func (c *check) ids() error {
	var ids []string
	err := c.eachText("SELECT pid FROM entity ORDER BY id", func(id string) error {
		ids = append(ids, id)
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, damaged := c.j.Timers(c.ctx, id)
		if err := errors.Join(c.report(c.events(id)), c.report(c.snapshots(id)), c.report(damaged)); err != nil {
			return err
		}
	}
	return nil
}

// events reads the events of id, up to the first damaged one.
func (c *check) events(id string) error {
	for {
		var last error
		for _, err := range c.j.Read(c.ctx, id, 1, math.MaxInt64) {
			last = err
		}
		deletedMeanwhile := errors.Is(last, journal.ErrUnavailable) && c.ctx.Err() == nil && !c.j.closed.Load() && resultCode(last) == 0
		if !deletedMeanwhile {
			return last
		}
	}
}

func (c *check) snapshots(id string) error {
	return c.j.view(c.ctx, id, func(tx *sql.Tx, h head) error {
		seqs, err := snapshotSeqs(c.ctx, tx, h.eid)
		for _, seq := range seqs {
			_, err := loadSnapshot(c.ctx, tx, h, seq)
			if err := c.report(wrap("load snapshot", id, err)); err != nil {
				return err
			}
		}
		return err
	})
}

func (c *check) eachText(query string, f func(string) error) error {
	rows, err := c.j.readers.QueryContext(c.ctx, query)
	if err != nil {
		return c.report(storeError(err))
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		err := scanError(rows.Scan(&text))
		if err == nil {
			err = f(text)
		}
		if err := c.report(err); err != nil {
			return err
		}
	}
	return c.report(storeError(rows.Err()))
}
