package journal

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/tenure"
)

// A WriterID identifies one incarnation of a writer. It is stored with every record for later
// investigation; fencing uses only the epoch.
type WriterID [16]byte

// A Record is one stored event.
type Record struct {
	Seq     uint64            // contiguous from 1 within a persistence id
	Epoch   uint64            // of the claim under which it was written
	Writer  WriterID          // the incarnation that wrote it
	Time    time.Time         // of the write, by the writer's clock, in UTC with nanoseconds; for information only
	Type    string            // the registered name of the event's type
	Tags    []string          // for queries
	Meta    map[string]string // opaque
	Payload []byte            // CBOR, opaque to the journal

	// Shredded says that the key of the payload has been destroyed, see codec.NewSubjects of
	// package persistence/codec. There is no payload then. It is not stored.
	Shredded bool
}

// An AppendRequest is one atomic append: all its records are stored and all its timers changed, or
// none.
type AppendRequest struct {
	ID      string
	Epoch   uint64        // must be the epoch of the newest claim
	Prev    uint64        // must be the last sequence number written
	Records []Record      // Seq must be Prev+1, Prev+2, …; Epoch must be the epoch of the request
	Timers  []TimerChange // made in order; only a [TimerStore] takes them
}

// A Journal keeps the events of persistence ids, and lets one writer at a time append to each. All
// methods may be called from any goroutine. A journal does not keep its arguments, and its results
// belong to the caller.
//
// A writer first claims the id, and then reads up to [Claim.LastSeq]. No older writer can append
// after the claim, so the result is complete.
//
// A context bounds a call, which returns soon after the context is done; actors abandon a call that
// has not returned one second later. If the context is done before the change has begun, the error
// wraps [ErrUnavailable] and nothing was stored. Later it wraps [ErrUnknown], because the change
// continues. Both errors also wrap the error of the context.
//
// Nil and empty mean the same for tags, metadata and payloads.
type Journal interface {
	// Claim takes the next epoch of id, atomically over all processes that share the journal:
	// the epoch after the last one, or b.Least if that is greater. Every append under an earlier
	// epoch fails with [ErrFenced] from then on. If the last epoch is not below b.Below, the error
	// is a [*FencedError]; if no epoch is left (see [NextEpoch]), it wraps [ErrInvalid]. Nothing
	// has changed then. After [ErrUnknown] claim again, which takes another epoch.
	Claim(ctx context.Context, id string, writer WriterID, b Bounds) (Claim, error)

	// Append stores the requests and returns one result for each, in their order. A request that
	// fails does not affect the others. Nil means that the records are durable. [ErrFenced],
	// [ErrConflict] and [ErrTooLarge] mean that nothing was stored; [ErrUnavailable] and
	// [ErrFull] that nothing was stored and that a retry may succeed. [ErrUnknown] means that the
	// outcome is not known: send the same request again. The journal recognises a request that it
	// has applied already and returns nil, unless a newer claim came in between. A request without
	// records changes timers only, and may be applied again. One that has neither
	// fails with [ErrInvalid], and an epoch that was never given out with [ErrFenced].
	Append(ctx context.Context, reqs []AppendRequest) []error

	// Read yields the records of id with sequence numbers from from to to, inclusive, in order. It
	// omits records that are not written yet or are deleted. A missing or damaged record is
	// [ErrCorrupt]. A record that is deleted during the call is [ErrUnavailable]: read again. An
	// unknown id yields nothing. An error ends the sequence.
	Read(ctx context.Context, id string, from, to uint64) iter.Seq2[Record, error]

	// DeleteTo deletes the records of id up to seq, inclusive. It never lowers the last sequence
	// number; a seq beyond it deletes all records. It is fenced like an append. A [Retainer] stops
	// before what a registered reader has not read, and then returns an [*UnreadError].
	DeleteTo(ctx context.Context, id string, epoch, seq uint64) error

	// Close closes the journal. Appends in progress return a definite answer or [ErrUnknown];
	// later calls return [ErrClosed]. A second Close does nothing.
	Close() error
}

// A Snapshot is the state after the event with its sequence number.
type Snapshot struct {
	Seq     uint64    // of the last event in it
	Epoch   uint64    // of the claim under which it was saved
	Time    time.Time // of saving, by the writer's clock
	Type    string    // the registered name of the state's type
	Payload []byte    // CBOR, opaque to the store

	Shredded bool // as in [Record]
}

// A SnapshotStore keeps snapshots, to shorten recovery. The journals of this project are snapshot
// stores, too. All methods may be called from any goroutine.
type SnapshotStore interface {
	// SaveSnapshot stores s, and replaces a snapshot with the same sequence number. It is fenced
	// like an append: [ErrFenced] if s.Epoch is not the newest, [ErrConflict] if s.Seq is beyond
	// the last event.
	SaveSnapshot(ctx context.Context, id string, s Snapshot) error

	// LoadSnapshot returns the newest intact snapshot up to maxSeq; without one, ok is false.
	// skipped has the sequence numbers of damaged snapshots that it has skipped, newest first.
	LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s Snapshot, ok bool, skipped []uint64, err error)

	// DeleteSnapshots deletes the snapshots of id up to seq, inclusive, except the newest keep of
	// all. It is fenced like an append.
	DeleteSnapshots(ctx context.Context, id string, epoch, seq uint64, keep int) error

	// Snapshots returns the sequence numbers of the snapshots of id in ascending order.
	Snapshots(ctx context.Context, id string) ([]uint64, error)
}

// Errors of journals and snapshot stores. Compare with [errors.Is]; they come wrapped with the
// operation and the persistence id.
var (
	// ErrFenced: a newer writer has claimed the id. Stop at once; a retry cannot succeed. A
	// [*FencedError] names the newest claim.
	ErrFenced = tenure.ErrFenced
	// ErrConflict: the epoch is right, but the sequence number is wrong. This is a bug in the
	// writer.
	ErrConflict = errors.New("persistence: sequence number does not follow the last one")
	// ErrTooLarge: a record is larger than the store takes.
	ErrTooLarge = errors.New("persistence: record is too large")
	// ErrInvalid: the request is malformed: it is empty, sequence numbers are not contiguous, the
	// id is not valid, or text is not UTF-8 or contains NUL.
	ErrInvalid = errors.New("persistence: invalid request")
	// ErrCorrupt: the stored data was changed, or some of it is missing.
	ErrCorrupt = errors.New("persistence: stored data is damaged")
	// ErrUnavailable: the store cannot be reached now; nothing was stored.
	ErrUnavailable = errors.New("persistence: store is not available")
	// ErrFull: the store has no space left; nothing was stored.
	ErrFull = errors.New("persistence: store is full")
	// ErrUnknown: the answer was lost; the append may or may not have been stored.
	ErrUnknown = errors.New("persistence: outcome unknown")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("persistence: store is closed")
	// ErrCodec: a payload was encoded by a codec, or with a key, that the journal does not have.
	// The payload may be intact.
	ErrCodec = errors.New("persistence: stored by another codec")
)

// An AsyncJournal is a journal whose appends need no goroutine that waits for them. Actors use it
// if a journal implements it.
type AsyncJournal interface {
	Journal

	// AppendAsync is Append for one request, but does not wait: it calls done with the result,
	// once, from any goroutine, perhaps before it returns. done never blocks. The Call that it
	// returns gives the append up, in place of a context; it is nil if done has been called.
	AppendAsync(req AppendRequest, done func(err error)) Call
}

// A Call is an append that has begun.
type Call interface {
	// Cancel ends the append as the end of its context ends [Journal.Append]: unless done has been
	// called, it is called soon with [ErrUnavailable] or [ErrUnknown], wrapped with cause. It may
	// be called from any goroutine, and never blocks.
	Cancel(cause error)
}

// A Notifier implements [EventReader.Appended]: a journal embeds one, and calls Notify after
// each append and when it is closed. The zero Notifier is ready. It starts no goroutine, and
// without listeners it costs a lock. Its methods may be called from any goroutine.
type Notifier struct {
	mu   sync.Mutex // guards next
	next chan struct{}
}

// Appended returns a channel that the next call of Notify closes.
func (n *Notifier) Appended() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		n.next = make(chan struct{})
	}
	return n.next
}

// Notify closes the channels that Appended has returned so far.
func (n *Notifier) Notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next != nil {
		close(n.next)
		n.next = nil
	}
}

// A Wrapper is a journal around another one. It always implements [SnapshotStore], [EventReader],
// [TimerStore], [Forgetter] and [Retainer]. If the inner journal does not implement one of them,
// its methods return [errors.ErrUnsupported].
type Wrapper interface {
	Journal

	// Unwrap returns the inner journal.
	Unwrap() Journal
}

// As returns j as a T, which is [SnapshotStore], [EventReader], [TimerStore], [Forgetter] or
// [Retainer]. It reports false unless j and each inner journal implement T; see [Wrapper].
func As[T any](j Journal) (_ T, ok bool) {
	t, ok := j.(T)
	if w, wraps := j.(Wrapper); ok && wraps {
		_, ok = As[T](w.Unwrap())
	}
	if !ok {
		return *new(T), false
	}
	return t, true
}
