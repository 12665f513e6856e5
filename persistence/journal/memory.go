package journal

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/internal/nonblocking"
)

func init() { nonblocking.Register[*Memory]() }

var (
	_ Journal       = (*Memory)(nil)
	_ SnapshotStore = (*Memory)(nil)
	_ EventReader   = (*Memory)(nil)
	_ TimerStore    = (*Memory)(nil)
	_ Forgetter     = (*Memory)(nil)
	_ Retainer      = (*Memory)(nil)
)

// A Memory is a [Journal] in the memory of the process, for tests and for state that may die with
// the process. It also is a [SnapshotStore], an [EventReader], a [TimerStore], a [Forgetter] and a
// [Retainer]. Create one with [NewMemory]. Its methods may be called from any goroutine. Several
// actor systems of a process may share one, as the nodes of a cluster share a database. The order
// of its events is the order of the appends. It starts no goroutine, so it works inside
// testing/synctest bubbles.
type Memory struct {
	Notifier

	mu       sync.RWMutex // guards closed, entities and what they hold, log and readers
	closed   bool
	entities map[string]*entity
	log      log
	readers  map[string]memoryReader
}

// NewMemory returns an empty journal.
func NewMemory() *Memory {
	return &Memory{entities: map[string]*entity{}, readers: map[string]memoryReader{}}
}

// Claim implements [Journal]. It ignores the writer, which is stored with the records.
func (j *Memory) Claim(ctx context.Context, id string, _ WriterID, b Bounds) (Claim, error) {
	var claim Claim
	err := j.change(ctx, "claim", id, func() error {
		e := j.entities[id]
		if e == nil {
			e = &entity{}
		}
		if e.forgotten {
			return ErrForgotten
		}
		epoch, err := NextEpoch(e.epoch, b)
		if err != nil {
			return err
		}
		e.epoch, j.entities[id] = epoch, e
		claim = e.claim()
		return nil
	})
	return claim, err
}

// Append implements [Journal].
func (j *Memory) Append(ctx context.Context, reqs []AppendRequest) []error {
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

// Read implements [Journal]. It yields the records that were stored when it began.
func (j *Memory) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var records []Record
		if err := j.look(ctx, "read", id, func() { records = j.entities[id].slice(from, to) }); err != nil {
			yield(Record{}, err)
			return
		}
		for i := range records {
			if ctx.Err() != nil {
				yield(Record{}, wrap("read", id, unavailable(ctx)))
				return
			}
			if !yield(clone(&records[i]), nil) {
				return
			}
		}
	}
}

// DeleteTo implements [Journal].
func (j *Memory) DeleteTo(ctx context.Context, id string, epoch, seq uint64) error {
	return j.change(ctx, "delete", id, func() error {
		first, by := uint64(0), ""
		if len(j.readers) > 0 {
			first, by = j.unread(id, seq)
		}
		if by == "" {
			return j.deleteTo(id, epoch, seq)
		}
		if err := j.deleteTo(id, epoch, first-1); err != nil {
			return err
		}
		return &UnreadError{Reader: by, To: first - 1}
	})
}

// Close implements [Journal]. All data is lost.
func (j *Memory) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed, j.entities, j.log, j.readers = true, nil, log{}, nil
	j.Notify()
	return nil
}

// change runs f with the lock held, unless the journal is closed, ctx is done or id is invalid.
func (j *Memory) change(ctx context.Context, op, id string, f func() error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.check(ctx, id)
	if err == nil {
		err = f()
	}
	return wrap(op, id, err)
}

// look runs f with the lock held for reading.
func (j *Memory) look(ctx context.Context, op, id string, f func()) error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if err := j.check(ctx, id); err != nil {
		return wrap(op, id, err)
	}
	f()
	return nil
}

func (j *Memory) check(ctx context.Context, id string) error {
	if err := j.usable(ctx); err != nil {
		return err
	}
	return ValidateID(id)
}

func (j *Memory) usable(ctx context.Context) error {
	switch {
	case j.closed:
		return ErrClosed
	case ctx.Err() != nil:
		return unavailable(ctx)
	}
	return nil
}

func unavailable(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
}

func wrap(op, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", op, id, err)
}

// An entity has the data of one persistence id. The nil entity is an id that was never claimed.
type entity struct {
	epoch, lastSeq, deletedTo uint64
	records                   []Record   // deletedTo+1 to lastSeq; its elements never change
	snapshots                 []Snapshot // ascending by Seq
	timers                    map[string]Timer

	forgotten bool   // it was, and has not been revived
	tombstone uint64 // its number in the log; 0 if the id was never forgotten
}

func (e *entity) claim() Claim {
	return Claim{Epoch: e.epoch, LastSeq: e.lastSeq, DeletedTo: e.deletedTo, TimersKnown: true, Timers: e.allTimers()}
}

func (e *entity) fence(epoch uint64) error {
	if e == nil {
		return &FencedError{Epoch: epoch}
	}
	if e.forgotten {
		return ErrForgotten
	}
	if epoch != e.epoch {
		return &FencedError{Epoch: epoch, Newest: e.epoch}
	}
	return nil
}

func (e *entity) append(req *AppendRequest, log *log) error {
	if err := e.fence(req.Epoch); err != nil {
		return err
	}
	if req.Prev != e.lastSeq {
		return e.recognise(req)
	}
	for i := range req.Records {
		r := clone(&req.Records[i])
		e.records = append(e.records, r)
		log.add(req.ID, r)
	}
	e.lastSeq += uint64(len(req.Records))
	e.changeTimers(req.Timers)
	return nil
}

// recognise returns nil if req is already stored. It is then a repeated request, because only one
// writer has its epoch.
func (e *entity) recognise(req *AppendRequest) error {
	last := req.Prev + uint64(len(req.Records))
	stored := e.slice(req.Prev+1, last)
	same := slices.EqualFunc(stored, req.Records, func(a, b Record) bool {
		return a.Checksum(req.ID) == b.Checksum(req.ID)
	})
	if !same || len(req.Records) == 0 {
		return fmt.Errorf("%w: %d to %d after %d", ErrConflict, req.Prev+1, last, e.lastSeq)
	}
	return nil
}

func (e *entity) slice(from, to uint64) []Record {
	if e == nil {
		return nil
	}
	from, to = max(from, e.deletedTo+1), min(to, e.lastSeq)
	if from > to {
		return nil
	}
	return e.records[from-e.deletedTo-1 : to-e.deletedTo]
}

func (e *entity) deleteTo(epoch, seq uint64) (n int, err error) {
	if err := e.fence(epoch); err != nil {
		return 0, err
	}
	seq = min(seq, e.lastSeq)
	if seq > e.deletedTo {
		n = int(seq - e.deletedTo)
		e.records = slices.Clone(e.records[n:])
		e.deletedTo = seq
	}
	return n, nil
}

func clone(r *Record) Record {
	c := *r
	c.Time = r.Time.Round(0).UTC()
	c.Tags = slices.Clone(r.Tags)
	c.Meta = maps.Clone(r.Meta)
	c.Payload = bytes.Clone(r.Payload)
	return c
}
