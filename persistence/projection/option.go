package projection

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/options"
	"github.com/understudy-go/understudy/persistence/journal"
)

// An Option changes how one projection works.
type Option func(*config)

type config struct {
	workers    int
	batch      int
	within     time.Duration
	polling    actor.Backoff
	backoff    actor.Backoff
	skipAfter  int
	skipOthers bool
	forgotten  bool
	registered bool
	ofIDs      func(id string) bool // nil: all
}

func newConfig(opts []Option) (config, error) {
	c := config{
		workers: 1,
		batch:   100,
		within:  time.Second,
		polling: actor.Backoff{Min: 10 * time.Millisecond, Max: time.Second},
		backoff: actor.Backoff{Min: 100 * time.Millisecond, Max: 10 * time.Second, Jitter: 0.2},
	}
	if err := options.Apply(&c, opts); err != nil {
		return c, err
	}
	return c, c.validate()
}

// Workers sets the number of workers, from 1 to [journal.Slices]. Each runs in a separate actor and
// handles the events of its share of the persistence ids. Events of one id stay in order; events of
// different ids may not. Each worker has its own offset; to change the number, rebuild the
// projection under another name. The default is 1.
func Workers(n int) Option { return func(c *config) { c.workers = n } }

// InBatches sets how many events are handled before the offset is stored, and after which duration
// it is stored earlier. A worker does not wait for a batch to fill. Both must be positive. The
// default is 100 events and one second.
func InBatches(n int, within time.Duration) Option {
	return func(c *config) { c.batch, c.within = n, within }
}

// Polling sets the delays between reads that find nothing: b.Min at first, then longer ones. The
// default is 10 ms, doubled up to a second. A worker also reads when the journal reports an append,
// see [journal.EventReader].
func Polling(b actor.Backoff) Option { return func(c *config) { c.polling = b } }

// RestartBackoff sets the delays before a failed worker starts again from its stored offset. The
// default is 100 ms, doubled up to 10 seconds.
func RestartBackoff(b actor.Backoff) Option { return func(c *config) { c.backoff = b } }

// SkipAfter skips an event that has failed n times on its own; the loss is logged and counted.
// Without it, an event whose handler fails is tried again forever, and the [Status] gives the
// reason; an id with an event that is damaged or cannot be decoded is held back. A projection that
// is started with SkipAfter skips the events that hold back ids at once, and handles the events
// after them.
func SkipAfter(n int) Option { return func(c *config) { c.skipAfter = n } }

// SkipOthers skips events whose type is not registered in this process or is not the type of the
// projection. Without it their ids are held back, because the events may come from a newer program.
func SkipOthers() Option { return func(c *config) { c.skipOthers = true } }

// Forgotten also passes ids that [persistence.Forget] has erased to the handler, each as an event
// with [Event.Forgotten] set: delete what the read model has of the id. A projection that holds
// events of the id back releases it then. The ids are those of the query's slices and of [OfIDs],
// with any tag, so some may be unknown to the read model. Without this option such ids are passed
// over, each with a line in the log.
func Forgotten() Option { return func(c *config) { c.forgotten = true } }

// Registered registers the projection with the journal: deletions, such as those of the option
// DeleteEvents of event-sourced actors, keep the events that the projection has not read, until it
// has. The journal knows how far that is when the projection starts, every 10 seconds while it
// reads, and at the end of [Projection.CatchUp]. Events of an id that is held back are kept, too.
//
// The registration stays when the program ends. Call [Unregister] for a projection that nobody runs
// any more, because otherwise its events are kept for ever. New panics if the journal is no
// [journal.Retainer]. By default the journal knows nothing of the projection, and deletes events
// whether or not it has read them.
func Registered() Option { return func(c *config) { c.registered = true } }

// OfIDs limits the projection to the events of the persistence ids for which match returns true.
// Events of others are not decoded. match must not change while offsets of the projection are
// stored: what it has left out is not read again. It may be called by any goroutine.
func OfIDs(match func(id string) bool) Option { return func(c *config) { c.ofIDs = match } }

func (c *config) validate() error {
	switch {
	case c.workers < 1 || c.workers > journal.Slices:
		return fmt.Errorf("Workers must be from 1 to %d", journal.Slices)
	case c.batch < 1 || c.within <= 0:
		return errors.New("InBatches needs positive numbers")
	case !sound(c.polling) || !sound(c.backoff):
		return errors.New("Polling and RestartBackoff need a positive Min, a Max that is not less, and no negative Jitter")
	case c.skipAfter < 0:
		return errors.New("SkipAfter must not be negative")
	}
	return nil
}

func sound(b actor.Backoff) bool {
	return b.Min > 0 && (b.Max == 0 || b.Max >= b.Min) && b.Jitter >= 0
}
