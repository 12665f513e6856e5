package generation

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
)

// maxBatch is how many requests share one append.
const maxBatch = 256

// yielding is how long a source waits that another one has come before: the two are not to
// take the log from each other for ever.
var yielding = actor.Backoff{Min: 2 * time.Millisecond, Max: 200 * time.Millisecond, Jitter: 1}

var _ Source = (*Journal)(nil)

// A Journal is a [Source] in a journal. Make one with [NewJournal].
type Journal struct {
	operations

	mu      sync.Mutex // guards waiting and working
	waiting []*request
	working bool

	log log // of the goroutine that works
}

// NewJournal returns a source that keeps everything in a log in j, under the persistence id
// "placement/generations", which nothing else may use. Any number of nodes may each have one
// on the same journal: what they claim is then from one sequence. It is fastest when one of
// them, the coordinator's, does all the work, as that one need not read what others do.
//
// Requests that are made at once are stored by one append. A goroutine does it, which is
// there as long as there is something to do. What an append stores holds for as long as the
// journal keeps it. Errors are the journal's; of [journal.ErrUnknown] nobody can tell
// whether what was asked has happened. The log is shortened as it grows, to a few thousand
// records beside the newest of each label.
//
// It panics when j is nil.
func NewJournal(j journal.Journal) *Journal {
	if j == nil {
		panic("generation: NewJournal needs a journal")
	}
	s := &Journal{log: log{journal: j, slack: defaultSlack, ledger: newLedger()}}
	_, _ = rand.Read(s.log.writer[:]) // it never fails
	s.operations = s.do
	return s
}

// A request waits for its turn, and for its answer.
type request struct {
	ctx    context.Context // of who asks
	apply  func(entries) error
	answer chan error // takes one
}

func (j *Journal) do(ctx context.Context, apply func(entries) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx, apply, make(chan error, 1)}
	j.submit(r) //nolint:contextcheck // who works lasts as long as any of those who wait
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

// work serves requests until there are none.
func (j *Journal) work() {
	for batch := j.take(); batch != nil; batch = j.take() {
		j.serve(batch)
		j.log.tidy()
	}
}

// take returns the next batch, without those who have given up.
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

// serve answers the requests. One that is too large is not to fail the others.
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

// asLongAsAny returns a context that ends when nobody waits any more.
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
