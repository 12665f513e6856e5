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
	// does not restart it.
	ErrFenced = journal.ErrFenced
	// ErrConflict: the epoch is right, but the sequence number is wrong. This is a bug in the
	// writer.
	ErrConflict = journal.ErrConflict
	// ErrTooLarge: an event is larger than the store takes.
	ErrTooLarge = journal.ErrTooLarge
	// ErrInvalid: the request is malformed.
	ErrInvalid = journal.ErrInvalid
	// ErrCorrupt: the stored data was changed, or some of it is missing.
	ErrCorrupt = journal.ErrCorrupt
	// ErrUnavailable: the store cannot be reached now; nothing was stored.
	ErrUnavailable = journal.ErrUnavailable
	// ErrFull: the store has no space left; nothing was stored.
	ErrFull = journal.ErrFull
	// ErrUnknown: the answer was lost; the events may or may not have been stored.
	ErrUnknown = journal.ErrUnknown
	// ErrClosed: the store has been closed.
	ErrClosed = journal.ErrClosed
	// ErrCodec: a payload was encoded by a codec, or with a key, that the journal does not have;
	// see package persistence/codec.
	ErrCodec = journal.ErrCodec
	// ErrNotState: an event-sourced actor has used the id of a durable state.
	ErrNotState = errors.New("persistence: what is stored is not a durable state")
	// ErrNotEvent: a durable state actor has used the id of an event-sourced actor.
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
