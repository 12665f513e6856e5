package rehearsal

import (
	"context"
	"errors"
	"iter"
	"math"
	"time"

	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// copied is a journal to which nothing can be written. Of one id it has what another build would
// have stored, if instead is not nil.
type copied struct {
	persistence.Journal
	instead *rewritten
}

var errReadOnly = errors.New("rehearsal: an actor that is tried writes nothing to its journal")

func (c *copied) Unwrap() journal.Journal { return c.Journal }

func (*copied) Claim(context.Context, string, journal.WriterID, journal.Bounds) (journal.Claim, error) {
	return journal.Claim{}, errReadOnly
}

func (*copied) Append(_ context.Context, reqs []journal.AppendRequest) []error {
	errs := make([]error, len(reqs))
	for i := range errs {
		errs[i] = errReadOnly
	}
	return errs
}

func (*copied) DeleteTo(context.Context, string, uint64, uint64) error { return errReadOnly }

func (*copied) Close() error { return nil }

func (*copied) SaveSnapshot(context.Context, string, journal.Snapshot) error { return errReadOnly }

func (*copied) DeleteSnapshots(context.Context, string, uint64, uint64, int) error {
	return errReadOnly
}

func (c *copied) Snapshots(ctx context.Context, id string) ([]uint64, error) {
	if s, ok := journal.As[journal.SnapshotStore](c.Journal); ok {
		return s.Snapshots(ctx, id)
	}
	return nil, errors.ErrUnsupported
}

func (c *copied) LoadSnapshot(ctx context.Context, id string, upTo uint64) (s journal.Snapshot, ok bool, skipped []uint64, err error) {
	if w := c.instead; w != nil && w.saved != nil && upTo >= w.last() {
		return journal.Snapshot{Seq: w.last(), Type: w.saved.Type, Payload: w.saved.Payload}, true, nil, nil
	}
	store, ok := journal.As[journal.SnapshotStore](c.Journal)
	if !ok {
		return s, false, nil, errors.ErrUnsupported
	}
	return store.LoadSnapshot(ctx, id, upTo)
}

func (c *copied) timers() journal.TimerStore {
	if s, ok := journal.As[journal.TimerStore](c.Journal); ok {
		return s
	}
	return nil
}

func (c *copied) Timers(ctx context.Context, id string) ([]journal.Timer, error) {
	if s := c.timers(); s != nil {
		return s.Timers(ctx, id)
	}
	return nil, errors.ErrUnsupported
}

func (c *copied) Wakes(context.Context, journal.SliceRange, journal.Wake, time.Time, int) ([]journal.Wake, error) {
	return nil, errors.ErrUnsupported
}

func (c *copied) Now(ctx context.Context) (time.Time, error) {
	if s := c.timers(); s != nil {
		return s.Now(ctx)
	}
	return time.Time{}, errors.ErrUnsupported
}

func (c *copied) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	if c.instead == nil {
		return c.Journal.Read(ctx, id, from, to)
	}
	return func(yield func(journal.Record, error) bool) {
		shift := int64(0)
		for r, err := range c.Journal.Read(ctx, id, 1, math.MaxInt64) {
			if err != nil {
				yield(r, err)
				return
			}
			all := c.instead.of(r)
			for i, now := range all {
				now.Seq = uint64(int64(r.Seq) + shift + int64(i)) //nolint:gosec // counts of records
				if now.Seq >= from && now.Seq <= to && !yield(now, nil) {
					return
				}
			}
			shift += int64(len(all)) - 1
		}
	}
}

// rewritten is what another build stores in place of the events of an id, where it differs.
type rewritten struct {
	events map[uint64][]inspect.Stored
	saved  *inspect.Stored
	seq    uint64 // of the last event before
	shift  int64  // of the last event
}

func (w *rewritten) last() uint64 { return uint64(max(1, int64(w.seq)+w.shift)) } //nolint:gosec // counts of records

func (w *rewritten) of(r journal.Record) []journal.Record {
	now, ok := w.events[r.Seq]
	if !ok {
		return []journal.Record{r}
	}
	all := make([]journal.Record, len(now))
	for i := range now {
		all[i] = r
		all[i].Type, all[i].Meta, all[i].Payload = now[i].Type, now[i].Meta, now[i].Payload
	}
	return all
}
