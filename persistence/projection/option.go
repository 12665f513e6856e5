package projection

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
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

	fromJournal any // a func(persistence.StoredEvent) ([]E, error), or nil
}

func newConfig(opts []Option) (config, error) {
	c := config{
		workers: 1,
		batch:   100,
		within:  time.Second,
		polling: actor.Backoff{Min: 10 * time.Millisecond, Max: time.Second},
		backoff: actor.Backoff{Min: 100 * time.Millisecond, Max: 10 * time.Second, Jitter: 0.2},
	}
	for _, o := range opts {
		o(&c)
	}
	return c, c.validate()
}

// Workers has n workers handle the events, each those of its share of the persistence ids
// and in an actor of its own. The events of one id stay in order, those of different ids
// do not. Each worker has an offset of its own, so the number is part of the projection:
// to change it, begin again. The default is 1.
func Workers(n int) Option { return func(c *config) { c.workers = n } }

// InBatches sets how many events have their offset stored together, and after which time
// of handling it is stored with fewer. Nobody waits for a batch to fill up. The default is
// 100 events and one second.
func InBatches(n int, within time.Duration) Option {
	return func(c *config) { c.batch, c.within = n, within }
}

// Polling sets how often the journal is looked at when there was nothing new: after b.Min,
// and then less and less often. The default is 10 ms, doubled up to a second. Where the
// journal is a [journal.Waker], what the same process appends is looked at at once.
func Polling(b actor.Backoff) Option { return func(c *config) { c.polling = b } }

// RestartBackoff sets the delays after which a worker that has failed begins again at its
// stored offset. The default is 100 ms, doubled up to 10 seconds.
func RestartBackoff(b actor.Backoff) Option { return func(c *config) { c.backoff = b } }

// SkipAfter passes over an event that has failed n times or more, by itself; the loss is
// logged and counted. Without it, an event whose handler fails is tried again for ever, and
// the [Status] says why nothing goes on; the events of an id of which one cannot be decoded
// are held back, and those of other ids go on. A projection that is started with SkipAfter
// passes over the events that hold back ids at once, and handles what follows them.
func SkipAfter(n int) Option { return func(c *config) { c.skipAfter = n } }

// SkipOthers passes over events whose type is not registered in this process, or is not
// that of the projection. Without it their ids are held back, as they may be events of a
// newer program that this one should know.
func SkipOthers() Option { return func(c *config) { c.skipOthers = true } }

// FromJournal hands over what f returns in place of each stored event: none, one or
// several, which are handled together. Give it the function that the behavior has for
// [persistence.FromJournal], so that both understand old events in the same way. An event
// with an error cannot be decoded: the events of its id are held back. E must be the event type of the projection.
func FromJournal[E any](f func(stored persistence.StoredEvent) ([]E, error)) Option {
	return func(c *config) { c.fromJournal = f }
}

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
