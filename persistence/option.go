package persistence

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// An Option changes how one event-sourced actor works: what [SnapshotEvery] returns, or an
// [Options] of the types of the behavior. An Options of other types makes [New] panic.
type Option interface{ option() }

type snapshotEvery struct{ n, keep int }

func (snapshotEvery) option() {}

// SnapshotEvery saves the state after every n events and keeps that many snapshots, as the fields
// SnapshotEvery and KeepSnapshots of [Options] do.
func SnapshotEvery(n, keep int) Option { return snapshotEvery{n, keep} }

// Options change how one event-sourced actor works. M is the type of its commands, E of its
// events and S of its state. The zero value of each field is its default. Functions run inside
// the actor.
type Options[M, E, S any] struct {
	// OnSignal handles the [Signal] values of the actor: the outcome of recovery, writes and
	// snapshots; the end of watched actors; and the actor's own end. state never contains events
	// that have not been stored.
	//
	// OnSignal returns an effect like the command handler. After a failure, [actor.PostStop] or
	// [actor.PreRestart] the effect is ignored. [Unhandled] leaves the end of a watched actor
	// unhandled, which fails this one; for other signals it means [None]. [Stash] fails the
	// actor. Use OnSignal instead of [actor.Behavior.OnSignal], which would hide the signals
	// that every actor gets. Nil ignores signals.
	OnSignal func(ctx *actor.Context[M], state S, sig Signal) Effect[E]

	// Tags returns the tags that event is stored with, for queries; state is the state after
	// event. Nil gives no tags.
	Tags func(state S, event E) []string

	// ToJournal returns what is stored in place of event: a value of a registered type, and the
	// version of its meaning, 0 for none. Use it for events whose stored form differs from the
	// form that handlers work with, or whose meaning changes while the type stays. It must
	// return the same for the same event. Without FromJournal, a value that is not an E is
	// rejected. Nil stores the event itself.
	ToJournal func(event E) (stored any, version int)

	// FromJournal returns the events that are replayed in place of a stored one: none, one or
	// several, in order. Use it to bring old events up to date, to divide them or to leave them
	// out, while the journal keeps them as they are. Return [Unchanged] for events that are up
	// to date. An error fails recovery. For an event that ToJournal has stored, it must return
	// events that lead to the same state. Nil replays each event as stored.
	FromJournal func(stored StoredEvent) ([]E, error)

	// SnapshotEvery saves the state after every so many events, to shorten recovery. The events
	// of one effect are never divided: the snapshot follows the batch that contains the
	// multiple. Snapshots are saved in the background; if the actor is faster, only the newest
	// state is saved. If one cannot be saved, a warning is logged and the actor continues.
	//
	// The journal must keep snapshots, and the type of the state must be registered with
	// [actor.RegisterType]; basic types are. Zero
	// takes no snapshots; negative values panic.
	SnapshotEvery int

	// SnapshotWhen also saves the state if it returns true for an event; state is the state
	// after the event with the sequence number seq. It runs before the event is written and
	// must depend on nothing else. Nil means never.
	SnapshotWhen func(state S, event E, seq uint64) bool

	// KeepSnapshots is how many snapshots are kept; older ones are deleted. The default is 2.
	// Negative values panic.
	KeepSnapshots int

	// DeleteEvents deletes events after each saved snapshot: those up to the oldest kept
	// snapshot, once there are KeepSnapshots of them. Their sequence numbers are never used
	// again. That snapshot is first read back from the store; if it cannot be decoded, neither
	// events nor snapshots are deleted, and [DeleteEventsFailed] reports it. Deleted events are
	// gone for queries and projections too. Events that a registered projection has not read stay,
	// see projection.Registered; the next snapshot tries again.
	//
	// With one kept snapshot there is nothing to recover from if it is damaged later or a later
	// program cannot decode it; keep more. It needs SnapshotEvery or SnapshotWhen.
	DeleteEvents bool

	// DeleteUnread deletes events behind snapshots even if a registered projection has not read
	// them. It needs DeleteEvents.
	DeleteUnread bool

	// PassivateAfter ends the actor when it has had no command for this long and its mailbox is
	// empty. The caller must be ready to spawn it again; a command sent at the very end becomes
	// a dead letter. Stashed commands and stored timers keep the actor alive; its
	// children do not. The instance of
	// a singleton ignores it, with a warning, because its manager would start it again; actors
	// spawned by an instance do not. Zero means never; negative
	// values panic.
	PassivateAfter time.Duration

	// OnPersistFailure is the delay before a request that the journal could not answer is sent
	// again, unchanged; see PersistTimeout. The default is 100 ms, doubled up to 4 s. If Min is
	// negative, nothing is sent again.
	OnPersistFailure actor.Backoff

	// PersistTimeout bounds one write, including its repetitions. After that the actor fails. It
	// also fails if the journal is unavailable to recovery for this long. The end of the actor
	// waits for a write for at most this long, and one second longer if the journal ignores its
	// context. The default is 30 seconds. Negative values panic.
	PersistTimeout time.Duration

	// RecoveryTimeout bounds how long recovery waits for the claim, for the snapshot, and for the
	// events. Each event adds a second to the time that is left, up to RecoveryTimeout. Waiting for
	// other recoveries, see [LimitRecoveries], does not count. When a third of the time is used up,
	// a warning names the persistence id. At its end the actor fails with a [RecoveryError], at
	// most one second later even if the journal ignores its context. The default is 30 seconds.
	// Negative values panic.
	RecoveryTimeout time.Duration

	// StashCapacity bounds the commands put aside by [Stash]; further ones become dead letters
	// with [actor.ErrStashFull]. The default is 4096. Negative values panic.
	StashCapacity int

	// OnceKeys is how many keys of [Once] the actor knows. When there are more, or they and their
	// replies have more than 4 MiB, it forgets the oldest ones. The default is 1000. Negative
	// values panic, and so do those above 100000.
	OnceKeys int

	// OnceFor is how long the actor knows a key of [Once], by the clocks of the hosts. The default
	// is 7 days. Negative values panic.
	OnceFor time.Duration
}

func (Options[M, E, S]) option() {}

// StateOptions change how one durable state actor works. The fields have the same meaning and
// defaults as in [Options].
type StateOptions[M, S any] struct {
	// OnSignal handles the [Signal] values of the actor. Nil ignores signals.
	OnSignal func(ctx *actor.Context[M], state State[S], sig Signal) StateEffect[S]

	// Tags returns the tags that value is stored with. A deletion has the tags of the value
	// that it deletes. Nil gives no tags.
	Tags func(value S) []string

	PassivateAfter   time.Duration // see [Options.PassivateAfter]
	OnPersistFailure actor.Backoff // see [Options.OnPersistFailure]
	PersistTimeout   time.Duration // see [Options.PersistTimeout]
	RecoveryTimeout  time.Duration // see [Options.RecoveryTimeout]
	StashCapacity    int           // see [Options.StashCapacity]
	OnceKeys         int           // see [Options.OnceKeys]
	OnceFor          time.Duration // see [Options.OnceFor]
}

func merge[M, E, S any](opts []Option) (all Options[M, E, S], err error) {
	var structs []Options[M, E, S]
	var snapshots *snapshotEvery
	for _, opt := range opts {
		switch opt := opt.(type) {
		case Options[M, E, S]:
			structs = append(structs, opt)
		case snapshotEvery:
			snapshots = &opt
		default:
			return all, fmt.Errorf("the option is a %T; use %T", opt, all)
		}
	}
	if all, err = only(structs); err == nil && snapshots != nil {
		all.SnapshotEvery, all.KeepSnapshots = snapshots.n, snapshots.keep
	}
	return all, err
}

func only[O any](opts []O) (o O, err error) {
	switch len(opts) {
	case 0:
		return o, nil
	case 1:
		return opts[0], nil
	}
	return o, fmt.Errorf("there are %d Options; give one", len(opts))
}

// settings are those fields of [Options] that do not depend on the types of the actor.
type settings struct {
	SnapshotEvery    int
	KeepSnapshots    int
	PassivateAfter   time.Duration
	OnPersistFailure actor.Backoff
	PersistTimeout   time.Duration
	RecoveryTimeout  time.Duration
	StashCapacity    int
	OnceKeys         int
	OnceFor          time.Duration

	DeleteEvents  bool
	DeleteUnread  bool
	signals       bool // the user handles signals
	maps          bool // ToJournal determines what is stored
	adapts        bool // FromJournal determines what is replayed
	snapshotsWhen bool // SnapshotWhen decides about snapshots
}

func settingsOf[M, E, S any](o *Options[M, E, S]) settings {
	return settings{
		SnapshotEvery: o.SnapshotEvery, KeepSnapshots: o.KeepSnapshots, DeleteEvents: o.DeleteEvents, DeleteUnread: o.DeleteUnread,
		PassivateAfter: o.PassivateAfter, OnPersistFailure: o.OnPersistFailure,
		PersistTimeout: o.PersistTimeout, RecoveryTimeout: o.RecoveryTimeout, StashCapacity: o.StashCapacity,
		OnceKeys: o.OnceKeys, OnceFor: o.OnceFor,
		signals: o.OnSignal != nil, maps: o.ToJournal != nil, adapts: o.FromJournal != nil, snapshotsWhen: o.SnapshotWhen != nil,
	}
}

func completed(s settings) (settings, error) {
	if err := s.validate(); err != nil {
		return s, err
	}
	if s.OnPersistFailure == (actor.Backoff{}) {
		s.OnPersistFailure = actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second, Jitter: 0.2}
	}
	setDefault(&s.PersistTimeout, 30*time.Second)
	setDefault(&s.RecoveryTimeout, 30*time.Second)
	setDefault(&s.StashCapacity, 4096)
	setDefault(&s.KeepSnapshots, 2)
	setDefault(&s.OnceKeys, 1000)
	setDefault(&s.OnceFor, 7*24*time.Hour)
	return s, nil
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

func (s *settings) validate() error {
	switch {
	case s.SnapshotEvery < 0 || s.KeepSnapshots < 0:
		return errors.New("SnapshotEvery and KeepSnapshots must not be negative")
	case s.DeleteEvents && !s.snapshots():
		return errors.New("DeleteEvents needs SnapshotEvery or SnapshotWhen")
	case s.DeleteUnread && !s.DeleteEvents:
		return errors.New("DeleteUnread needs DeleteEvents")
	case s.PassivateAfter < 0:
		return errors.New("PassivateAfter must not be negative")
	case s.OnPersistFailure.Max < 0 || s.OnPersistFailure.Jitter < 0:
		return fmt.Errorf("OnPersistFailure has a negative setting: %+v", s.OnPersistFailure)
	case s.PersistTimeout < 0 || s.RecoveryTimeout < 0:
		return errors.New("timeouts must not be negative")
	case s.StashCapacity < 0:
		return errors.New("StashCapacity must not be negative")
	case s.OnceKeys < 0 || s.OnceKeys > maxOnceKeys || s.OnceFor < 0:
		return fmt.Errorf("OnceKeys must be from 0 to %d, and OnceFor not negative", maxOnceKeys)
	}
	return nil
}

func (s *settings) snapshots() bool { return s.SnapshotEvery > 0 || s.snapshotsWhen }

// WithJournal gives a system without a cluster the journal in which sharding and cron keep what
// they know. A node has cluster.Config.Journal instead. The caller closes j, after the system has
// stopped. By default, or if j is nil, the system has no journal; see [ErrNoJournal].
//
// Event-sourced actors have the journal that they are given, which may be the same one.
func WithJournal(j Journal) actor.Option {
	return func(s *actor.System) {
		if j != nil {
			extension.Set(s, j)
		}
	}
}

// JournalOf returns the journal of [WithJournal], or for the system of a node the one of
// cluster.Config.Journal. It is nil for a system without one.
func JournalOf(s *actor.System) Journal {
	j, _ := extension.Get[Journal](s)
	return j
}
