package memory

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/understudy-go/understudy/internal/nonblocking"
	"github.com/understudy-go/understudy/persistence/journal"
)

func init() { nonblocking.Register[*Journal]() }

var (
	_ journal.Journal       = (*Journal)(nil)
	_ journal.SnapshotStore = (*Journal)(nil)
	_ journal.EventReader   = (*Journal)(nil)
	_ journal.TimerStore    = (*Journal)(nil)
)

// A Journal is a [journal.Journal], a [journal.SnapshotStore], a [journal.EventReader] and a
// [journal.TimerStore] in memory. Create one with [New]. Its methods may be called from any
// goroutine.
type Journal struct {
	journal.Notifier

	mu       sync.RWMutex // guards closed, entities and what they hold, and log
	closed   bool
	entities map[string]*entity
	log      log
}

// New returns an empty journal.
func New() *Journal {
	return &Journal{entities: map[string]*entity{}}
}

// Claim implements [journal.Journal]. It ignores the writer, which is stored with the records.
func (j *Journal) Claim(ctx context.Context, id string, _ journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	var claim journal.Claim
	err := j.change(ctx, "claim", id, func() error {
		e := j.entities[id]
		if e == nil {
			e = &entity{}
		}
		epoch, err := journal.NextEpoch(e.epoch, b)
		if err != nil {
			return err
		}
		e.epoch, j.entities[id] = epoch, e
		claim = journal.Claim{Epoch: e.epoch, LastSeq: e.lastSeq, DeletedTo: e.deletedTo, NoTimers: len(e.timers) == 0}
		return nil
	})
	return claim, err
}

// Append implements [journal.Journal].
func (j *Journal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := make([]error, len(reqs))
	for i := range reqs {
		req := &reqs[i]
		errs[i] = j.change(ctx, "append", req.ID, func() error {
			if err := req.Validate(); err != nil {
				return err
			}
			return j.entities[req.ID].append(req, &j.log)
		})
	}
	j.Notify()
	return errs
}

// Read implements [journal.Journal]. It yields the records that were stored when it began.
func (j *Journal) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		var records []journal.Record
		if err := j.look(ctx, "read", id, func() { records = j.entities[id].slice(from, to) }); err != nil {
			yield(journal.Record{}, err)
			return
		}
		for i := range records {
			if ctx.Err() != nil {
				yield(journal.Record{}, wrap("read", id, unavailable(ctx)))
				return
			}
			if !yield(clone(&records[i]), nil) {
				return
			}
		}
	}
}

// DeleteTo implements [journal.Journal].
func (j *Journal) DeleteTo(ctx context.Context, id string, epoch, seq uint64) error {
	return j.change(ctx, "delete", id, func() error {
		n, err := j.entities[id].deleteTo(epoch, seq)
		if n > 0 {
			j.log.forget(n, j.isDeleted)
		}
		return err
	})
}

// Close implements [journal.Journal]. All data is lost.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed, j.entities, j.log = true, nil, log{}
	j.Notify()
	return nil
}

func (j *Journal) change(ctx context.Context, op, id string, f func() error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.check(ctx, id)
	if err == nil {
		err = f()
	}
	return wrap(op, id, err)
}

func (j *Journal) look(ctx context.Context, op, id string, f func()) error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if err := j.check(ctx, id); err != nil {
		return wrap(op, id, err)
	}
	f()
	return nil
}

func (j *Journal) check(ctx context.Context, id string) error {
	if err := j.usable(ctx); err != nil {
		return err
	}
	return journal.ValidateID(id)
}

func (j *Journal) usable(ctx context.Context) error {
	switch {
	case j.closed:
		return journal.ErrClosed
	case ctx.Err() != nil:
		return unavailable(ctx)
	}
	return nil
}

func unavailable(ctx context.Context) error {
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, ctx.Err())
}

func wrap(op, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", op, id, err)
}
