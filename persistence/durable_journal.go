package persistence

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	// metaKind is the metadata key by which records of durable states are recognised.
	metaKind  = "understudy.kind"
	kindState = "state"

	// discardEvery is the number of revisions after which older ones are deleted.
	discardEvery = 32
)

// A stateJournal is the journal of one incarnation of a durable state actor. It labels records as
// values, presents the last record as a snapshot, so that recovery reads nothing else, and deletes
// older records. Only the actor calls its methods, one after the other.
type stateJournal struct {
	Journal
	storeCaller
	check   func(*journal.Record) error
	ctx     context.Context // the actor's values; a stop does not cancel it
	timeout time.Duration
	calls   *journalMetrics
	tasks   sync.WaitGroup

	revision atomic.Uint64 // of the last record
	claim    journal.Claim // of this incarnation
	tags     []string      // of the last record

	mu   sync.Mutex // guards all below
	busy bool       // a deletion is running
	next discard    // the next deletion; seq 0 for none
}

type discard struct {
	id         string
	epoch, seq uint64
}

func newStateJournal(ctx context.Context, j Journal, timeout time.Duration, c storeCaller) *stateJournal {
	return &stateJournal{Journal: j, ctx: context.WithoutCancel(ctx), timeout: timeout, storeCaller: c, calls: metricsOf(c.system).journals.Of(storeName(j))}
}

func (j *stateJournal) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	claim, err := j.Journal.Claim(ctx, id, writer, b)
	return j.claimed(claim), err
}

func (j *stateJournal) claimed(c journal.Claim) journal.Claim {
	j.claim = c
	j.revision.Store(c.LastSeq)
	return c
}

// Append labels the records. A repeated request gets the same labels.
func (j *stateJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	labelled := make([]journal.AppendRequest, len(reqs))
	for i, req := range reqs {
		labelled[i] = req
		labelled[i].Records = make([]journal.Record, len(req.Records))
		for k, r := range req.Records {
			labelled[i].Records[k] = j.label(r)
		}
	}
	errs := j.Journal.Append(ctx, labelled)
	for i := range errs {
		if errs[i] == nil {
			j.stored(&labelled[i]) //nolint:contextcheck // the deletion outlives the call
		}
	}
	return errs
}

func (j *stateJournal) AppendAsync(req journal.AppendRequest, done func(error)) journal.Call {
	req.Records = slices.Clone(req.Records)
	for i, r := range req.Records {
		req.Records[i] = j.label(r)
	}
	return asyncOf(j.Journal).AppendAsync(req, func(err error) {
		if err == nil {
			j.stored(&req)
		}
		done(err)
	})
}

func (j *stateJournal) label(r journal.Record) journal.Record {
	meta := map[string]string{metaKind: kindState}
	maps.Copy(meta, r.Meta)
	r.Meta = meta
	if r.Type == typeDeleted && len(r.Tags) == 0 {
		r.Tags = j.tags
	}
	return r
}

func (j *stateJournal) stored(req *journal.AppendRequest) {
	if len(req.Records) == 0 {
		return // it has changed timers only
	}
	last := req.Records[len(req.Records)-1]
	before := j.revision.Swap(last.Seq)
	j.tags = last.Tags
	if discards(before, &last) {
		j.discard(discard{req.ID, req.Epoch, last.Seq - 1})
	}
}

// discards reports whether the records before last are deleted once it is stored after the record
// before.
func discards(before uint64, last *journal.Record) bool {
	return last.Type == typeDeleted || before/discardEvery != last.Seq/discardEvery
}

// Read fails: recovery does not call it, because the last record is the state.
func (j *stateJournal) Read(context.Context, string, uint64, uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		yield(journal.Record{}, fmt.Errorf("%w: only the last record is the state", ErrNotState))
	}
}

func (j *stateJournal) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s journal.Snapshot, ok bool, skipped []uint64, err error) {
	for r, err := range j.calls.measured(j.Journal.Read(ctx, id, maxSeq, maxSeq)) {
		if err == nil {
			err = j.check(&r)
		}
		if err != nil {
			return journal.Snapshot{}, false, nil, err
		}
		s, err := j.restore(ctx, id, &r)
		return s, err == nil, nil, err
	}
	return journal.Snapshot{}, false, nil, fmt.Errorf("%w: record %d, the last of %q, is deleted or missing", ErrNotState, maxSeq, id)
}

// restore returns the last record, and the keys of commands in the records that have them, as a
// snapshot.
func (j *stateJournal) restore(ctx context.Context, id string, r *journal.Record) (s journal.Snapshot, err error) {
	last, err := keysIn(r)
	if err != nil {
		return s, err
	}
	all, since := []keyed(nil), r.Seq
	if last.Since > 0 && last.Since < since {
		since = last.Since
		if all, err = j.keysOf(ctx, id, since, r.Seq-1); err != nil {
			return s, err
		}
	}
	payload := extension.Payload{Type: r.Type, Data: r.Payload}
	if all = append(all, last.Keys...); len(all) > 0 && !r.Shredded {
		if payload, err = extension.Pack(stateWithKeys{State: payload, Keys: all}); err != nil {
			return s, err
		}
	}
	j.found(id, r, since) //nolint:contextcheck // the deletion outlives the call
	return journal.Snapshot{Seq: r.Seq, Epoch: r.Epoch, Time: r.Time, Type: payload.Type, Payload: payload.Data, Shredded: r.Shredded}, nil
}

func (j *stateJournal) keysOf(ctx context.Context, id string, from, to uint64) (all []keyed, err error) {
	next := from
	for r, err := range j.calls.measured(j.Journal.Read(ctx, id, from, to)) {
		var s storedKeys
		if err == nil {
			s, err = keysIn(&r)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, s.Keys...)
		next = r.Seq + 1
	}
	if next != to+1 {
		return nil, fmt.Errorf("%w: the keys of commands are in the records %d to %d, which end at %d", ErrCorrupt, from, to, next-1)
	}
	return all, nil
}

// found records the restored revision, and deletes what an earlier incarnation has left of records
// before since.
func (j *stateJournal) found(id string, r *journal.Record, since uint64) {
	j.tags = r.Tags
	left := since - 1 - min(since-1, j.claim.DeletedTo)
	if left >= discardEvery || left > 0 && r.Type == typeDeleted {
		j.discard(discard{id, j.claim.Epoch, since - 1})
	}
}

// discard deletes records in the background, one request at a time.
func (j *stateJournal) discard(d discard) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next = d; !j.busy {
		j.begin()
	}
}

// The caller holds the mutex.
func (j *stateJournal) begin() {
	d := j.next
	j.next = discard{}
	if j.busy = d.seq > 0; !j.busy {
		return
	}
	j.tasks.Go(func() {
		if err := j.delete(d); err != nil {
			j.log.Warn("older states are not deleted", zap.Uint64("upTo", d.seq), zap.Error(err))
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.begin()
	})
}

func (j *stateJournal) delete(d discard) error {
	ctx, cancel := context.WithTimeout(j.ctx, j.timeout)
	defer cancel()
	err := j.call(ctx, "delete older states", func() error { return j.DeleteTo(ctx, d.id, d.epoch, d.seq) })
	if _, unread := errors.AsType[*journal.UnreadError](err); unread {
		return nil // the next deletion includes what stays
	}
	return err
}

func (j *stateJournal) SaveSnapshot(context.Context, string, journal.Snapshot) error { return nil }

func (j *stateJournal) DeleteSnapshots(context.Context, string, uint64, uint64, int) error {
	return nil
}

func (j *stateJournal) Snapshots(context.Context, string) ([]uint64, error) { return nil, nil }
