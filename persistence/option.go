package persistence

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// An Option changes how one event-sourced behavior works.
type Option func(*config)

type config struct {
	retention *retention // nil: no snapshots
	tagger    any        // a func(E) []string, or nil

	backoff         actor.Backoff
	persistTimeout  time.Duration
	recoveryTimeout time.Duration
	stashCapacity   int
}

func newConfig(opts []Option) (config, error) {
	c := config{
		backoff:         actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second, Jitter: 0.2},
		persistTimeout:  30 * time.Second,
		recoveryTimeout: 30 * time.Second,
		stashCapacity:   4096,
	}
	for _, o := range opts {
		o(&c)
	}
	return c, c.validate()
}

// SnapshotEvery saves the state after every n events, to shorten recovery, and retains
// the newest keep of such snapshots; both must be positive. Events that are stored
// together are never torn apart: the snapshot comes after the batch in which a multiple
// of n lies.
//
// The journal must be a [SnapshotStore], and the type of the state be registered with
// [actor.RegisterType], as basic types are. A snapshot is saved in the background; when
// that fails, a warning is logged and the actor goes on.
func SnapshotEvery(n, keep int) Option {
	return func(c *config) { c.retention = &retention{every: n, keep: keep} }
}

// Tagged stores each event with the tags that f gives it, for queries. E must be the
// event type of the behavior.
func Tagged[E any](f func(E) []string) Option {
	return func(c *config) { c.tagger = f }
}

// OnPersistFailure sets the delays after which a request that the journal could not
// answer is sent again, unchanged; see [PersistTimeout]. The default is 100 ms, doubled up
// to 4 s. With the zero Backoff nothing is sent again.
func OnPersistFailure(b actor.Backoff) Option {
	return func(c *config) { c.backoff = b }
}

// PersistTimeout bounds how long a write may take, re-sending it included. Then the
// actor fails, as it does when recovery has found the journal unavailable for that long.
// The default is 30 seconds. The end of the actor waits for a write, and so can take as
// long.
func PersistTimeout(d time.Duration) Option {
	return func(c *config) { c.persistTimeout = d }
}

// RecoveryTimeout bounds how long recovery may wait for the claim, for the snapshot, and
// for each event. Then the actor fails with a [RecoveryError]. The default is 30 seconds.
func RecoveryTimeout(d time.Duration) Option {
	return func(c *config) { c.recoveryTimeout = d }
}

// StashCapacity bounds how many commands may be put aside by [Stash]. Further ones are
// dead letters with [actor.ErrStashFull]. The default is 4096.
func StashCapacity(n int) Option {
	return func(c *config) { c.stashCapacity = n }
}

func (c *config) validate() error {
	switch {
	case c.retention != nil && (c.retention.every <= 0 || c.retention.keep <= 0):
		return errors.New("SnapshotEvery needs positive numbers")
	case c.backoff.Min < 0 || c.backoff.Max < 0 || c.backoff.Jitter < 0:
		return fmt.Errorf("OnPersistFailure has a negative setting: %+v", c.backoff)
	case c.persistTimeout <= 0 || c.recoveryTimeout <= 0:
		return errors.New("timeouts must be positive")
	case c.stashCapacity <= 0:
		return errors.New("StashCapacity must be positive")
	}
	return nil
}
