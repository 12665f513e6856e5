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
	problem   error      // of an option

	// functions, whose types only the behavior knows; or nil
	signalHandler any // func(*actor.Context[M], S, Signal) Effect[E]
	tagger        any // func(E) []string, or func(S, E) []string
	toJournal     any // func(E) (any, int)
	fromJournal   any // func(StoredEvent) ([]E, error)
	snapshotWhen  any // func(S, E, uint64) bool

	backoff         actor.Backoff
	persistTimeout  time.Duration
	recoveryTimeout time.Duration
	passivateAfter  time.Duration // 0: never
	stashCapacity   int
	deleteEvents    bool
	verify          bool // decode each record before it is stored
}

func newConfig(opts []Option) (config, error) {
	c := config{
		backoff:         actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second, Jitter: 0.2},
		persistTimeout:  30 * time.Second,
		recoveryTimeout: 30 * time.Second,
		stashCapacity:   4096,
	}
	for i, o := range opts {
		if o == nil {
			return c, fmt.Errorf("option %d is nil", i+1)
		}
		o(&c)
	}
	if c.retention != nil {
		c.retention.withEvents = c.deleteEvents
	}
	return c, c.validate()
}

// SnapshotEvery saves the state after every n events, to shorten recovery, and retains
// the newest keep of all snapshots; both must be positive. Events that are stored together
// are never torn apart: the snapshot comes after the batch in which a multiple of n lies.
//
// The journal must be a [SnapshotStore], and the type of the state be registered with
// [actor.RegisterType], as basic types are. A snapshot is saved in the background, and
// when the next one is due meanwhile, the one after that is of the newest state. When it
// cannot be saved, a warning is logged and the actor goes on. A snapshot that could not be
// decoded again is not saved.
func SnapshotEvery(n, keep int) Option {
	return func(c *config) {
		if n <= 0 || keep <= 0 {
			c.problem = errors.New("SnapshotEvery needs positive numbers")
		}
		c.snapshots(keep).every = n
	}
}

// SnapshotWhen saves the state, as [SnapshotEvery] does, when f returns true for one of
// the events of an effect, with the sequence number of the event and the state that it has
// led to. f runs before the events are written, and depends on nothing else. Of the two
// options each works beside the other, and the greater number of what is to be kept counts.
// S and E must be the types of state and events of the behavior.
func SnapshotWhen[S, E any](f func(state S, event E, seq uint64) bool, keep int) Option {
	return func(c *config) {
		if f == nil || keep <= 0 {
			c.problem = errors.New("SnapshotWhen needs a function and a positive number")
		}
		c.snapshots(keep)
		c.snapshotWhen = f
	}
}

func (c *config) snapshots(keep int) *retention {
	if c.retention == nil {
		c.retention = &retention{}
	}
	c.retention.keep = max(c.retention.keep, keep)
	return c.retention
}

// DeleteEvents deletes, after each snapshot that has been saved, the events up to the
// oldest of those that are retained, which has all that they have led to; nothing as long
// as there are fewer than are to be retained. Their sequence numbers are never used again.
// The snapshot is read back from the store before; unless it can be decoded, nothing is
// deleted, neither events nor older snapshots, and [DeleteEventsFailed] says so.
// With one snapshot retained there is nothing to go back to when that is damaged later, or a
// later program cannot decode it; retain more. Deleted events are gone for queries and projections
// too, whether those have seen them or not.
func DeleteEvents() Option {
	return func(c *config) { c.deleteEvents = true }
}

// OnSignal calls f with the [Signal] that tells about the life of the actor: what becomes
// of recovery, writes and snapshots, the end of watched actors, and the actor's own end.
// f runs inside the actor, with the state as it is: never with events that have not been
// stored. It returns an effect like the command handler; what comes of a failure, and of
// [actor.PostStop] and [actor.PreRestart], is not changed by it. [Unhandled] leaves the end
// of a watched actor unhandled, which fails this one, and says nothing for other signals;
// [Stash] makes no sense and fails the actor.
//
// M, E and S must be the types of the behavior. Do not use [actor.Behavior.OnSignal]
// besides: it takes the signals that every actor gets from f.
func OnSignal[M, E, S any](f func(ctx *actor.Context[M], state S, sig Signal) Effect[E]) Option {
	return func(c *config) { c.signalHandler = f }
}

// Tagged stores each event with the tags that f gives it, for queries. E must be the
// event type of the behavior.
func Tagged[E any](f func(E) []string) Option {
	return func(c *config) { c.tagger = f }
}

// TaggedByState is [Tagged] by the event and the state that it has led to. S must be the
// type of the state.
func TaggedByState[S, E any](f func(state S, event E) []string) Option {
	return func(c *config) { c.tagger = f }
}

// PassivateAfter ends the actor when it has had no command for d and none waits in its
// mailbox, so that what is seldom used takes no memory. Whoever tells it something must
// be ready to spawn it again; what is told at the very end is a dead letter. Commands that
// have been put aside by [Stash] keep it alive; its children do not.
//
// It is ignored, with a warning, for the instance of a singleton: its manager would start
// it again at once. Actors that an instance has spawned passivate.
func PassivateAfter(d time.Duration) Option {
	return func(c *config) {
		if d <= 0 {
			c.problem = errors.New("PassivateAfter must be positive")
		}
		c.passivateAfter = d
	}
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
// long, and one second more for a journal that does not heed its context.
func PersistTimeout(d time.Duration) Option {
	return func(c *config) { c.persistTimeout = d }
}

// RecoveryTimeout bounds how long recovery may wait for the claim, for the snapshot, and
// for each event. Then the actor fails with a [RecoveryError], at the latest one second
// later, also when the journal does not heed its context. The default is 30 seconds.
// The wait for other actors to recover, see [LimitRecoveries], does not count.
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
	case c.problem != nil:
		return c.problem
	case c.deleteEvents && c.retention == nil:
		return errors.New("DeleteEvents needs SnapshotEvery or SnapshotWhen")
	case c.backoff.Min < 0 || c.backoff.Max < 0 || c.backoff.Jitter < 0:
		return fmt.Errorf("OnPersistFailure has a negative setting: %+v", c.backoff)
	case c.persistTimeout <= 0 || c.recoveryTimeout <= 0:
		return errors.New("timeouts must be positive")
	case c.stashCapacity <= 0:
		return errors.New("StashCapacity must be positive")
	}
	return nil
}
