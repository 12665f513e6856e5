package persistence

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
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
	// them with a backoff.
	ErrUnavailable = journal.ErrUnavailable
	// ErrFull: the store has no space left; nothing was stored. Make room. The write is repeated
	// until PersistTimeout, and then the actor fails.
	ErrFull = journal.ErrFull
	// ErrUnknown: the answer to a write was lost; it may or may not have been stored. The actor
	// repeats the write, and the journal recognises it. Let callers ask again.
	ErrUnknown = journal.ErrUnknown
	// ErrClosed: the store was closed while actors use it. Close it after node.Leave or
	// System.Shutdown has returned.
	ErrClosed = journal.ErrClosed
	// ErrCodec: a payload was encoded by a codec, or with a key, that the journal does not have.
	// Give codec.Wrap or NewEncryption the former one as well.
	ErrCodec = journal.ErrCodec
	// ErrNotState: a durable state has the id of an event-sourced actor. Give each its own id.
	ErrNotState = errors.New("persistence: what is stored is not a durable state")
	// ErrNotEvent: an event-sourced actor has the id of a durable state. Give each its own id.
	ErrNotEvent = errors.New("persistence: what is stored is not an event")
)

func init() {
	for name, err := range map[string]error{
		"understudy/fenced":                  ErrFenced,
		"understudy/persistence.conflict":    ErrConflict,
		"understudy/persistence.too-large":   ErrTooLarge,
		"understudy/persistence.invalid":     ErrInvalid,
		"understudy/persistence.corrupt":     ErrCorrupt,
		"understudy/persistence.unavailable": ErrUnavailable,
		"understudy/persistence.full":        ErrFull,
		"understudy/persistence.unknown":     ErrUnknown,
		"understudy/persistence.closed":      ErrClosed,
	} {
		actor.RegisterError(name, err)
	}
}
