package persistence

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
	"go.uber.org/zap"
)

const (
	// metaKind is where records of durable states say what they are.
	metaKind  = "understudy.kind"
	kindState = "state"

	// discardEvery is after how many revisions older ones are deleted.
	discardEvery = 32
)

// A stateJournal is the journal as one incarnation of a durable state actor sees it: it
// marks what is written, shows the last record as a snapshot, so that recovery reads
// nothing else, and deletes older ones. Its methods are called by the actor.
type stateJournal struct {
	Journal
	caller
	check   func(*journal.Record) error
	ctx     context.Context // the actor's values, for as long as it lives
	timeout time.Duration
	tasks   sync.WaitGroup

	revision atomic.Uint64 // the last that was stored or found
	claim    journal.Claim // the newest of this incarnation
	tags     []string      // of the last record

	mu   sync.Mutex // guards all below
	busy bool       // older records are being deleted
	next discard    // what to delete then
}

// A discard is a wish to delete the records up to seq.
type discard struct {
	id         string
	epoch, seq uint64
}

func newStateJournal(ctx context.Context, j Journal, timeout time.Duration, c caller) *stateJournal {
	return &stateJournal{Journal: j, ctx: context.WithoutCancel(ctx), timeout: timeout, caller: c}
}

// Claim implements [Journal].
func (j *stateJournal) Claim(ctx context.Context, id string, writer journal.WriterID, floor uint64) (journal.Claim, error) {
	claim, err := j.Journal.Claim(ctx, id, writer, floor)
	return j.claimed(claim), err
}

func (j *stateJournal) claimed(c journal.Claim) journal.Claim {
	j.claim = c
	j.revision.Store(c.LastSeq)
	return c
}

// Append implements [Journal]. It is called again with the same when an answer was lost,
// and then marks it the same.
func (j *stateJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	marked := make([]journal.AppendRequest, len(reqs))
	for i, req := range reqs {
		marked[i] = req
		marked[i].Records = make([]journal.Record, len(req.Records))
		for k, r := range req.Records {
			marked[i].Records[k] = j.mark(r)
		}
	}
	errs := j.Journal.Append(ctx, marked)
	for i := range errs {
		if errs[i] == nil {
			j.stored(&marked[i]) //nolint:contextcheck // what it deletes is not the caller's concern
		}
	}
	return errs
}

func (j *stateJournal) mark(r journal.Record) journal.Record {
	meta := map[string]string{metaKind: kindState}
	maps.Copy(meta, r.Meta)
	r.Meta = meta
	if r.Type == typeDeleted && len(r.Tags) == 0 {
		r.Tags = j.tags
	}
	return r
}

// stored notes what is the latest now, and discards what is not.
func (j *stateJournal) stored(req *journal.AppendRequest) {
	last := req.Records[len(req.Records)-1]
	before := j.revision.Swap(last.Seq)
	j.tags = last.Tags
	if last.Type == typeDeleted || before/discardEvery != last.Seq/discardEvery {
		j.discard(discard{req.ID, req.Epoch, last.Seq - 1})
	}
}

// Read implements [Journal]. Recovery has no use for it.
func (j *stateJournal) Read(context.Context, string, uint64, uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		yield(journal.Record{}, fmt.Errorf("%w: only the last record is the state", ErrNotState))
	}
}

// LoadSnapshot implements [SnapshotStore]: it is the last record.
func (j *stateJournal) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s journal.Snapshot, ok bool, skipped []uint64, err error) {
	for r, err := range j.Journal.Read(ctx, id, maxSeq, maxSeq) { //nolint:contextcheck // what found deletes is not the caller's concern
		if err == nil {
			err = j.check(&r)
		}
		if err != nil {
			return journal.Snapshot{}, false, nil, err
		}
		j.found(id, &r)
		return journal.Snapshot{Seq: r.Seq, Epoch: r.Epoch, Time: r.Time, Type: r.Type, Payload: r.Payload}, true, nil, nil
	}
	return journal.Snapshot{}, false, nil, fmt.Errorf("%w: record %d, the last of %q, is deleted or missing", ErrNotState, maxSeq, id)
}

// found notes the state that recovery has come to, and discards what a former incarnation
// could not.
func (j *stateJournal) found(id string, r *journal.Record) {
	j.tags = r.Tags
	left := r.Seq - 1 - j.claim.DeletedTo
	if left >= discardEvery || left > 0 && r.Type == typeDeleted {
		j.discard(discard{id, j.claim.Epoch, r.Seq - 1})
	}
}

// discard deletes records in the background, one time after the other.
func (j *stateJournal) discard(d discard) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next = d; !j.busy {
		j.begin()
	}
}

// begin does what is wanted next. The mutex is held.
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
	return j.call(ctx, "delete older states", func() error { return j.DeleteTo(ctx, d.id, d.epoch, d.seq) })
}

// SaveSnapshot implements [SnapshotStore]: there are none.
func (j *stateJournal) SaveSnapshot(context.Context, string, journal.Snapshot) error { return nil }

// DeleteSnapshots implements [SnapshotStore]: there are none.
func (j *stateJournal) DeleteSnapshots(context.Context, string, uint64, uint64, int) error {
	return nil
}

// Snapshots implements [SnapshotStore]: there are none.
func (j *stateJournal) Snapshots(context.Context, string) ([]uint64, error) { return nil, nil }
