package journal

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/understudy-go/understudy/internal/fence"
)

// WriterID names one incarnation of a writer. It is stored with every record, for
// people who investigate; fencing goes by the epoch alone.
type WriterID [16]byte

// A Record is one stored event.
type Record struct {
	Seq     uint64            // contiguous from 1 within a persistence id
	Epoch   uint64            // the claim under which it was written
	Writer  WriterID          // who wrote it
	Time    time.Time         // the writer's wall clock, UTC, to the nanosecond; information only
	Type    string            // the registered name of the event's type
	Tags    []string          // for queries
	Meta    map[string]string // opaque
	Payload []byte            // CBOR, opaque to the journal
}

// A Claim is the right to write to one persistence id until somebody claims it again.
type Claim struct {
	Epoch     uint64 // strictly greater than that of every earlier claim of this id
	LastSeq   uint64 // the last sequence number ever written, 0 when there is none
	DeletedTo uint64 // records up to this one are gone
}

// An AppendRequest is one atomic append: all of its records are stored, or none.
type AppendRequest struct {
	ID      string
	Epoch   uint64   // must be the epoch of the newest claim
	Prev    uint64   // must be the last sequence number written
	Records []Record // Seq must be Prev+1, Prev+2, …; Epoch that of the request
}

// A Journal keeps the events of persistence ids and lets one writer at a time add to
// each. All methods may be called from any goroutine. What is passed in is not kept,
// what comes out belongs to the caller.
//
// A writer claims first, then reads up to [Claim.LastSeq]: from the claim on nobody
// older can add anything, so what it reads is complete.
//
// A context bounds the waiting: a call returns soon after it is done. An actor abandons one
// that has not returned a second later. When it is done before the change has begun, the answer
// wraps [ErrUnavailable] and nothing was stored; later it wraps [ErrUnknown], as a
// change under way goes on. Both wrap the error of the context too.
//
// Nil and empty are the same for tags, metadata and payloads.
type Journal interface {
	// Claim takes the next epoch of id, atomically over all processes that share the journal:
	// the epoch after the last one, or floor if that is greater. Every append under an earlier
	// epoch fails with [ErrFenced] from then on. If no epoch is left (see [NextEpoch]), the
	// error wraps [ErrInvalid] and nothing has changed.
	Claim(ctx context.Context, id string, writer WriterID, floor uint64) (Claim, error)

	// Append stores the requests, and returns one result for each, in their order. One
	// that fails does not fail its neighbours. Nil means durable. [ErrFenced],
	// [ErrConflict] and [ErrTooLarge] mean that nothing was stored;
	// [ErrUnavailable] and [ErrFull] that nothing was stored and that a retry may work;
	// [ErrUnknown] that nobody can tell: send the very same request again, and the
	// journal recognises what it has applied already, unless a newer claim came
	// between, and answers nil.
	// An empty request is refused with [ErrInvalid], an epoch that nobody was given with
	// [ErrFenced].
	Append(ctx context.Context, reqs []AppendRequest) []error

	// Read yields the records of id from from to to, both inclusive, in order, as far as
	// they have been written and not been deleted. One that is missing or damaged is an
	// error ([ErrCorrupt]), one that is deleted in the middle of reading too
	// ([ErrUnavailable]: read again). An unknown id yields nothing. An error ends the
	// sequence.
	Read(ctx context.Context, id string, from, to uint64) iter.Seq2[Record, error]

	// DeleteTo deletes the records of id up to seq, inclusive. It never lowers the last
	// sequence number; a seq beyond it deletes all there is. It is fenced like an append.
	DeleteTo(ctx context.Context, id string, epoch, seq uint64) error

	// Close ends the journal. Appends under way get a definite answer or [ErrUnknown],
	// later calls [ErrClosed]. Closing again does nothing.
	Close() error
}

// A Snapshot is a state as it was after the event of its sequence number.
type Snapshot struct {
	Seq     uint64    // of the last event that is in it
	Epoch   uint64    // the claim under which it was saved
	Time    time.Time // when it was saved, by the clock of the writer
	Type    string    // the registered name of the state's type
	Payload []byte    // CBOR, opaque to the store
}

// A SnapshotStore keeps states, to shorten recovery. The journals of this project are
// snapshot stores too. All methods may be called from any goroutine.
type SnapshotStore interface {
	// SaveSnapshot stores s, over one of the same sequence number. It is fenced like an
	// append: [ErrFenced] when s.Epoch is not the newest, and [ErrConflict] when s.Seq
	// is beyond the last event.
	SaveSnapshot(ctx context.Context, id string, s Snapshot) error

	// LoadSnapshot returns the newest intact snapshot up to maxSeq. Damaged ones are
	// passed over: their sequence numbers come back in skipped, newest first. When none
	// is left, ok is false.
	LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s Snapshot, ok bool, skipped []uint64, err error)

	// DeleteSnapshots deletes the snapshots of id up to seq, inclusive, but never the
	// newest keep of all. It is fenced like an append.
	DeleteSnapshots(ctx context.Context, id string, epoch, seq uint64, keep int) error

	// Snapshots returns the sequence numbers of the snapshots of id, ascending.
	Snapshots(ctx context.Context, id string) ([]uint64, error)
}

// What journals and snapshot stores answer. Compare with [errors.Is]; they come
// wrapped with the operation and the persistence id.
var (
	// ErrFenced: somebody has claimed the id since. Stop at once; a retry cannot help.
	ErrFenced = fence.ErrFenced
	// ErrConflict: the epoch is right, the sequence number is not. A bug in the writer.
	ErrConflict = errors.New("persistence: sequence number does not follow the last one")
	// ErrTooLarge: a record is larger than the store takes.
	ErrTooLarge = errors.New("persistence: record is too large")
	// ErrInvalid: the request is malformed: empty, numbers not contiguous, a bad id, text
	// that is not UTF-8 or contains NUL.
	ErrInvalid = errors.New("persistence: invalid request")
	// ErrCorrupt: what was read is not what was written, or some of it is missing.
	ErrCorrupt = errors.New("persistence: stored data is damaged")
	// ErrUnavailable: the store cannot be reached now; nothing was stored.
	ErrUnavailable = errors.New("persistence: store is not available")
	// ErrFull: the store has no space left; nothing was stored.
	ErrFull = errors.New("persistence: store is full")
	// ErrUnknown: the answer was lost; the append may or may not have been stored.
	ErrUnknown = errors.New("persistence: outcome unknown")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("persistence: store is closed")
	// ErrCodec: a payload was encoded by a codec, or with a key, that the journal has not been
	// given. The payload may be intact.
	ErrCodec = errors.New("persistence: stored by another codec")
)
