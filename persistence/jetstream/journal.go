package jetstream

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/journal"
)

var (
	_ journal.Journal       = (*Journal)(nil)
	_ journal.SnapshotStore = (*Journal)(nil)
	_ journal.EventReader   = (*Journal)(nil)
	_ journal.Forgetter     = (*Journal)(nil)
	_ journal.Retainer      = (*Journal)(nil)
)

// A Journal is a [journal.Journal], a [journal.SnapshotStore], a [journal.EventReader], a
// [journal.Forgetter] and a [journal.Retainer] in JetStream. Create one with [Open].
type Journal struct {
	journal.Notifier

	nc       *nats.Conn
	inbox    *inbox
	api      string // the prefix of the subjects of the server's API
	subjects subjects
	events   string // the names of the streams
	large    string
	streams  map[string]js.Stream

	closed context.Context //nolint:containedctx // it is the journal's own life
	close  context.CancelFunc

	mu       sync.Mutex // guards entities and their users
	entities map[string]*entity
	cut      cutFlag
	ended    atomic.Uint64 // the greatest end of the stream that [Journal.End] has returned

	hints    hints
	listener listener
}

func newJournal(nc *nats.Conn, config Config) *Journal {
	j := &Journal{
		nc: nc, api: "$JS.API.", subjects: subjects{root: config.Stream},
		events: config.events().Name, large: config.large().Name,
		streams: map[string]js.Stream{}, entities: map[string]*entity{},
		listener: listener{subs: map[string]*nats.Subscription{}},
	}
	if config.Domain != "" {
		j.api = "$JS." + config.Domain + ".API."
	}
	j.closed, j.close = context.WithCancel(context.Background())
	return j
}

// Close implements [journal.Journal]. It does not wait: requests that have been sent may still be
// stored, and their callers get [journal.ErrUnknown].
func (j *Journal) Close() error {
	j.close()
	j.inbox.close()
	j.listener.close()
	j.Notify()
	return nil
}

// begin begins a call. Its context ends when ctx ends, and when j is closed. The caller must call
// end.
func (j *Journal) begin(ctx context.Context) (_ context.Context, end context.CancelFunc, err error) {
	switch {
	case j.closed.Err() != nil:
		return nil, nil, journal.ErrClosed
	case ctx.Err() != nil:
		return nil, nil, unavailable(ctx, nil)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(j.closed, func() { cancel(journal.ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }, nil
}

// call runs f as a call on id that changes it.
func (j *Journal) call(ctx context.Context, op, id string, f func(context.Context) error) error {
	ctx, end, err := j.begin(ctx)
	if err != nil {
		return wrap(op, id, err)
	}
	defer end()
	if err = journal.ValidateID(id); err == nil {
		err = ended(ctx, f(ctx))
	}
	return wrap(op, id, err)
}

// ended returns err, or ErrClosed if the call ended because the journal was closed and nothing was
// stored.
func ended(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), journal.ErrClosed) && !errors.Is(err, journal.ErrUnknown) {
		return journal.ErrClosed
	}
	return err
}
