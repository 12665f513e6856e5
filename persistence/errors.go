package persistence

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Journal keeps the events of actors. Open one with a package such as persistence/sqlite. See
// [journal.Journal] for its methods, which programs rarely call themselves, and for the contract of
// stores.
type Journal = journal.Journal

// Errors of journals and of recovery. Compare with [errors.Is]; they come wrapped with the
// operation and the persistence id.
var (
	// ErrFenced: a newer writer has claimed the id. It is final: the actor stops, and supervision
	// does not restart it. After a failover this is right. Otherwise two actors use one id: make it
	// a singleton or an entity.
	ErrFenced = journal.ErrFenced
	// ErrForgotten: the id was erased by [Forget]. The actor stops, and supervision does not
	// restart it. If the id shall begin anew, call [Revive].
	ErrForgotten = journal.ErrForgotten
	// ErrConflict: the epoch is right, but the sequence number is wrong. Look for a program that
	// writes to the journal by itself, or for a store that has lost acknowledged writes.
	ErrConflict = journal.ErrConflict
	// ErrTooLarge: an event or snapshot is larger than the store takes. Store less in one event,
	// for example a reference to a file.
	ErrTooLarge = journal.ErrTooLarge
	// ErrInvalid: the store refuses the request itself, such as an id that is too long or a type
	// that is not registered. The text says which. Change the program; repeating does not help.
	ErrInvalid = journal.ErrInvalid
	// ErrCorrupt: the stored data was changed, or some of it is missing. Look for a failing disk or
	// changes by hand, and restore a backup.
	ErrCorrupt = journal.ErrCorrupt
	// ErrUnavailable: the store cannot be reached now; nothing was stored. Check the server, its
	// address and the role. Actors repeat the request until PersistTimeout and then fail: supervise
	// them with a backoff. An ask that ends at its deadline meanwhile wraps it too; its command may
	// still be stored.
	ErrUnavailable = journal.ErrUnavailable
	// ErrFull: the store has no space left; nothing was stored. Make room. The write is repeated
	// until PersistTimeout, and then the actor fails. An ask that ends at its deadline meanwhile
	// wraps it too; its command may still be stored.
	ErrFull = journal.ErrFull
	// ErrUnknown: the answer to a write was lost; it may or may not have been stored. The actor
	// repeats the write, and the journal recognises it. Let callers ask again. An ask that ends at
	// its deadline wraps it too if the write has not been answered for a second.
	ErrUnknown = journal.ErrUnknown
	// ErrClosed: the store was closed while actors use it. Close it after node.Leave or
	// System.Shutdown has returned.
	ErrClosed = journal.ErrClosed
	// ErrCodec: a payload was encoded by a codec, or with a key, that the journal does not have.
	// Give codec.Wrap or NewEncryption the former one as well.
	ErrCodec = journal.ErrCodec
	// ErrNoJournal: sharding, placement or cron keeps something for the next node that hosts it,
	// and this node has no journal. Set cluster.Config.Journal to the same one on every node.
	// Without a cluster, give actor.NewSystem the option [WithJournal].
	ErrNoJournal = errors.New("there is no journal: set cluster.Config.Journal on every node, or without a cluster give actor.NewSystem persistence.WithJournal")
	// ErrInMemory: the journal is in the memory of this process, the cluster has another process,
	// and cluster.Config.Strict is set. Give the actor a journal that all nodes share.
	ErrInMemory = errors.New("persistence: the journal is in the memory of this process, and the cluster has other processes")
	// ErrKeyReused: a command has a key of [Once] that was used for a command without a reply, or
	// with another type of reply. Give each kind of command its own keys, such as with a prefix.
	ErrKeyReused = errors.New("persistence: the key was used for another kind of command")
	// ErrNotState: a durable state has the id of an event-sourced actor. Give each its own id.
	ErrNotState = errors.New("persistence: what is stored is not a durable state")
	// ErrNotEvent: an event-sourced actor has the id of a durable state. Give each its own id.
	ErrNotEvent = errors.New("persistence: what is stored is not an event")
)

func init() {
	for name, err := range map[string]error{
		"understudy/fenced":                  ErrFenced,
		"understudy/persistence.forgotten":   ErrForgotten,
		"understudy/persistence.conflict":    ErrConflict,
		"understudy/persistence.too-large":   ErrTooLarge,
		"understudy/persistence.invalid":     ErrInvalid,
		"understudy/persistence.corrupt":     ErrCorrupt,
		"understudy/persistence.unavailable": ErrUnavailable,
		"understudy/persistence.full":        ErrFull,
		"understudy/persistence.unknown":     ErrUnknown,
		"understudy/persistence.closed":      ErrClosed,
		"understudy/persistence.in-memory":   ErrInMemory,
		"understudy/persistence.key-reused":  ErrKeyReused,
	} {
		actor.RegisterError(name, err)
	}
}

// A RecoveryError fails an actor whose state cannot be restored: the journal does not answer, a
// record is damaged or of an unknown type, or the event handler panics. Supervise the actor with a
// backoff, or start a program that can read the event.
type RecoveryError struct {
	ID  string // the persistence id
	Seq uint64 // of the last event that was restored, 0 for none
	Err error  // the cause; an [*actor.PanicError] if the event handler panicked
}

// Error returns the id, the last restored sequence number and the cause.
func (e *RecoveryError) Error() string {
	return fmt.Sprintf("persistence: recovery of %q failed after event %d: %v", e.ID, e.Seq, e.Err)
}

// Unwrap returns the cause.
func (e *RecoveryError) Unwrap() error { return e.Err }

// A RejectedError fails an actor whose events can never be stored: their type is not registered,
// they are too large, or their tags are malformed. Nothing was stored and the state is unchanged,
// so the actor may resume.
type RejectedError struct {
	ID  string // the persistence id
	Err error  // the cause
}

// Error returns the id and the cause.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("persistence: events of %q rejected: %v", e.ID, e.Err)
}

// Unwrap returns the cause.
func (e *RejectedError) Unwrap() error { return e.Err }

// Is lets package singleton recognize a rejection, after which it does not repeat the message.
// After a conflict it does, as the next instance recovers the right sequence number.
func (e *RejectedError) Is(target error) bool {
	return target == tenure.ErrRejected && !errors.Is(e.Err, ErrConflict)
}

// A storeError is the failure of an actor whose store does not work now. The command is not at
// fault, and may succeed later.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// Is lets package singleton recognize the failure: it is no attempt at the command.
func (e *storeError) Is(target error) bool { return target == tenure.ErrStore }

// failedBy returns err as a failure of the store if that is at fault, and otherwise as it is.
func failedBy(err error) error {
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrFull) || errors.Is(err, ErrUnknown) || errors.Is(err, ErrClosed) {
		return &storeError{err}
	}
	return err
}

// isRejection reports whether err is a definite refusal of the request itself.
func isRejection(err error) bool {
	return errors.Is(err, ErrTooLarge) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrConflict)
}

func isTransient(err error) bool {
	if final := (*finalError)(nil); errors.As(err, &final) {
		return false
	}
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrFull) || errors.Is(err, ErrUnknown)
}
