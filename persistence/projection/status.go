package projection

import (
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Command is what the actor of a projection understands: [GetStatus] and [CatchUp].
type Command interface{ command() }

// GetStatus asks for the [Status], at once, whatever the workers are doing.
type GetStatus struct{ ReplyTo actor.ActorRef[Status] }

// CatchUp asks for the [Status] as soon as all events have been handled that the journal
// shows when the command arrives; so who has seen an event acknowledged, and then asks,
// finds it in what the projection makes. A journal that holds events back for a moment, as
// it waits for what may come before them, may show it only after that.
type CatchUp struct{ ReplyTo actor.ActorRef[Status] }

func (GetStatus) command() {}
func (CatchUp) command()   {}

func init() {
	actor.RegisterType[GetStatus]("understudy.projection.get-status")
	actor.RegisterType[CatchUp]("understudy.projection.catch-up")
	actor.RegisterType[Status]("understudy.projection.status")
}

// A Status says how a projection is getting on.
type Status struct {
	Name    string
	Workers []WorkerStatus
}

// A WorkerStatus says how one worker is getting on, since its projection was started.
type WorkerStatus struct {
	Slices   journal.SliceRange
	Offset   journal.Offset // as it is stored
	Handled  uint64         // events, without those that were undone by a failure
	Skipped  uint64         // events that were passed over
	Last     time.Time      // when the last event that was handled had been written
	Lag      time.Duration  // from then until it was handled
	Failures int            // in a row
	Failure  string         // the last of them, "" when there are none
	Held     []HeldID       // persistence ids whose events are held back, by name
}

// A HeldID is a persistence id whose events a projection holds back, as one of them cannot be
// decoded. Other ids go on.
type HeldID struct {
	ID      string
	From    uint64 // the sequence number of the event that cannot be decoded
	Last    uint64 // of the last event that has come since; From when there is none
	Failure string // why it cannot be decoded
}

// Failing returns the first failure that keeps a worker from going on, or else the first that
// holds back a persistence id, or "".
func (s Status) Failing() string {
	for _, w := range s.Workers {
		if w.Failure != "" {
			return w.Failure
		}
	}
	for _, w := range s.Workers {
		if len(w.Held) > 0 {
			return w.Held[0].Failure
		}
	}
	return ""
}

// A report is what a worker says of itself to all who want to know.
type report struct {
	mu     sync.Mutex // guards status
	status WorkerStatus
}

func (r *report) update(f func(*WorkerStatus)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.status)
}

func (r *report) get() WorkerStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}
