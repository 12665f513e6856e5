package persistence

import (
	"errors"
	"fmt"
	"sync"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// A Signal informs an actor about its life; see [Options.OnSignal]. It is one of the types below,
// or an [actor.Signal].
type Signal any

type (
	// RecoveryCompleted reports that the state has been restored. It comes before the first
	// command. If the handler panics, recovery fails.
	RecoveryCompleted struct {
		Seq uint64 // of the last event, 0 without events
		// Epoch is the epoch of this incarnation's claim: the fencing token for what the actor does
		// outside of the journal. A later incarnation has a higher one.
		Epoch uint64
		// Shredded is how many events were left out because the key of their subject has been
		// destroyed, see codec.NewSubjects of package persistence/codec. A snapshot of which
		// nothing is left counts as one.
		Shredded uint64
	}

	// SnapshotSkipped reports a snapshot that recovery could not use because it is damaged or
	// cannot be decoded. It comes after [RecoveryCompleted]. The state was restored from an older
	// snapshot, or from the events alone.
	SnapshotSkipped struct {
		Seq uint64 // of the last event in the snapshot
		Err error
	}

	// RecoveryFailed reports that the state cannot be restored; the handler gets the initial
	// state. The actor fails with Err, a [*RecoveryError].
	RecoveryFailed struct{ Err error }

	// PersistFailed reports that a write failed, or that its outcome is not known, after all
	// repetitions that [Options.OnPersistFailure] allows. The state is unchanged. The actor fails
	// with Err.
	PersistFailed struct{ Err error }

	// PersistRejected reports events that can never be stored, such as those of an unregistered
	// type. Nothing was stored, and the state is unchanged. The actor fails with Err, a
	// [*RejectedError]. An ask that waits for a reply ends with Err, unless OnSignal handles this.
	PersistRejected struct{ Err error }

	// TimerFailed reports the message of a timer that cannot be decoded. The timer stays in the
	// journal, and is tried again when the actor starts again. The actor continues.
	TimerFailed struct {
		Timer Timer
		Err   error
	}

	// SnapshotCompleted reports a saved snapshot.
	SnapshotCompleted struct {
		Seq uint64 // of the last event in the snapshot
	}

	// SnapshotFailed reports a snapshot that could not be saved. The actor continues.
	SnapshotFailed struct {
		Seq uint64
		Err error
	}

	// EventsDeleted reports that all events up to To have been deleted, see
	// [Options.DeleteEvents].
	EventsDeleted struct {
		To     uint64
		Unread string // the registered projection that has not read the next one; "" if all were deleted that could be
	}

	// DeleteEventsFailed reports that events up to To could not be deleted, or were kept because
	// the snapshot at To cannot be read back. The actor continues; the next snapshot tries again.
	DeleteEventsFailed struct {
		To  uint64
		Err error
	}

	// SnapshotsDeleted reports that all snapshots up to To have been deleted, see
	// [Options.KeepSnapshots].
	SnapshotsDeleted struct{ To uint64 }

	// DeleteSnapshotsFailed reports that snapshots up to To could not be deleted, or were kept
	// because the oldest newer one cannot be read back. The actor continues; the next snapshot
	// tries again.
	DeleteSnapshotsFailed struct {
		To  uint64
		Err error
	}
)

var errSignalStashed = errors.New("persistence: a signal cannot be stashed; Stash is for commands")

// tell passes sig to OnSignal, and executes the effect that it returns. handled is false if there
// is no handler or if it returns Unhandled.
func (e *entity) tell(sig Signal) (o outcome, handled bool) {
	plan := e.ask(sig)
	if plan.unhandled {
		return outcome{}, false
	}
	return e.answer(plan), true
}

func (e *entity) ask(sig Signal) *plan {
	if !e.signals {
		return &plan{unhandled: true}
	}
	return e.user.signal(e.at, e.ctx, sig)
}

func (e *entity) answer(plan *plan) outcome {
	if plan.stash {
		return outcome{err: errSignalStashed}
	}
	plan, err := resolve(e, plan)
	if err != nil {
		return outcome{err: err}
	}
	if o := e.execute(plan); !o.goesOn() {
		return o
	}
	return e.work()
}

// announce passes sig, which reports a failure, to OnSignal and ignores its effect, because the
// actor fails anyway. It logs a panic of the handler, so that it does not replace the failure.
func (e *entity) announce(sig Signal) (handled bool) {
	err := guard.Run(func() error { handled = !e.ask(sig).unhandled; return nil })
	if err != nil {
		e.caller.log.Error("signal handler failed", zap.String("signal", fmt.Sprintf("%T", sig)), zap.Error(err))
	}
	return handled
}

func (e *entity) lifeSignal(sig actor.Signal) outcome {
	switch sig.(type) {
	case actor.Terminated, actor.ChildFailed, actor.AdaptFailed:
		if e.failure != nil {
			return outcome{err: e.failure}
		}
		defer e.goOn()
		if o, handled := e.tell(sig); handled {
			return o
		}
		return outcome{unhandled: true}
	case actor.PostStop, actor.PreRestart:
		e.ask(sig)
	}
	return outcome{}
}

type news struct {
	mu      sync.Mutex // guards waiting
	waiting []Signal
}

func (n *news) add(sig Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = append(n.waiting, sig)
}

func (n *news) take() (sig Signal, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) == 0 {
		return outcome{}, false
	}
	sig, n.waiting = n.waiting[0], n.waiting[1:]
	return sig, true
}

func (n *news) any() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.waiting) > 0
}

// Any goroutine may call report.
func (e *entity) report(sig Signal) {
	if e.signals {
		e.news.add(sig)
		e.wake()
	}
}
