package generations

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/generation"
)

// maxBatch is how many requests share one append.
const maxBatch = 256

// takeover is how long a source waits after another source has claimed the log. Without the wait,
// two sources could take the log from each other forever.
var takeover = actor.Backoff{Min: 2 * time.Millisecond, Max: 200 * time.Millisecond, Jitter: 1}

var _ generation.Source = (*Journal)(nil)

// A Journal is a [generation.Source] in a journal. Make one with [NewJournal].
type Journal struct {
	mu      sync.Mutex // guards waiting and working
	waiting []*request
	working bool

	log log // belongs to the goroutine that runs work
}

// NewJournal returns a source that keeps everything in one log in j, under the persistence id
// "singleton/generations", which nothing else may use. Any number of nodes may each have a source
// on the same journal: all of them claim from one sequence. A source is fastest while it is the
// only one that writes, because it need not read the entries of others. The coordinator's source
// normally is.
//
// Requests made at the same time are stored by one append, up to 256. A goroutine stores them; it
// ends when no request is left. A claim takes the same time however many labels there are; only a
// new source first reads the log. What has been stored is as durable as the journal. Errors are the
// journal's; after [journal.ErrUnknown] the request may or may not have taken effect. The log is
// shortened as it grows, to about 4096 records and two for each label.
//
// NewJournal panics if j is nil.
func NewJournal(j journal.Journal) *Journal {
	if j == nil {
		panic("generations: NewJournal needs a journal")
	}
	s := &Journal{log: log{journal: j, compactAfter: defaultCompactAfter, ledger: newLedger()}}
	_, _ = rand.Read(s.log.writer[:]) // it never fails
	return s
}

// NewMemory returns a source in memory, for tests and for clusters within one process. All nodes
// must use the same one.
func NewMemory() *Journal { return NewJournal(journal.NewMemory()) }

// A request is a call of an operation that has not returned yet.
type request struct {
	ctx    context.Context // of the caller
	apply  func(staged) error
	answer chan error // has room for one
}

func (j *Journal) do(ctx context.Context, apply func(staged) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx, apply, make(chan error, 1)}
	j.submit(r) //nolint:contextcheck // the work lasts as long as any caller waits
	select {
	case err := <-r.answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *Journal) submit(r *request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting = append(j.waiting, r)
	if !j.working {
		j.working = true
		go j.work()
	}
}

// work serves requests until none are left.
func (j *Journal) work() {
	for batch := j.take(); batch != nil; batch = j.take() {
		j.serve(batch)
		j.log.tidy()
	}
}

// take returns the next batch, or nil if no request waits.
func (j *Journal) take() []*request {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := min(len(j.waiting), maxBatch)
	batch := j.waiting[:n:n]
	if j.waiting = j.waiting[n:]; n == 0 {
		j.waiting, j.working = nil, false
		return nil
	}
	return batch
}

// serve answers the requests. If the batch is too large for the journal, each request is tried
// alone, so that a large one does not fail the others.
func (j *Journal) serve(batch []*request) {
	ctx, cancel := asLongAsAny(batch)
	defer cancel()
	answers, err := j.log.settle(ctx, batch)
	if errors.Is(err, journal.ErrTooLarge) && len(batch) > 1 {
		for i := range batch {
			j.serve(batch[i : i+1])
		}
		return
	}
	for i, r := range batch {
		if err != nil {
			r.answer <- err
			continue
		}
		r.answer <- answers[i]
	}
}

// asLongAsAny returns a context that ends when the contexts of all callers have ended.
func asLongAsAny(batch []*request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	var left atomic.Int64
	left.Store(int64(len(batch)))
	stops := make([]func() bool, len(batch))
	for i, r := range batch {
		stops[i] = context.AfterFunc(r.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
