package persistence

import (
	"errors"
	"fmt"
	"sync"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// A Signal tells an event-sourced actor about its life, see [OnSignal]: it is one of the
// types below, or an [actor.Signal].
type Signal any

type (
	// RecoveryCompleted comes when the state has been restored, before the first command.
	// A panic of the handler fails recovery.
	RecoveryCompleted struct {
		Seq uint64 // of the last event, 0 when there is none
	}

	// SnapshotSkipped comes after [RecoveryCompleted], for each snapshot that recovery has
	// passed over: it is damaged, or cannot be decoded. The state was restored from an
	// older snapshot, or from the events alone.
	SnapshotSkipped struct {
		Seq uint64 // of the last event that is in the snapshot
		Err error
	}

	// RecoveryFailed comes when the state cannot be restored, with the initial state. The
	// actor fails with Err, a [*RecoveryError].
	RecoveryFailed struct{ Err error }

	// PersistFailed comes when events could not be written, or nobody knows whether they
	// were, and all has been tried that [OnPersistFailure] allows. The state is as before.
	// The actor fails with Err.
	PersistFailed struct{ Err error }

	// PersistRejected comes when events cannot be stored because of what they are. Nothing
	// was stored, and the state is as before. The actor fails with Err, a [*RejectedError].
	PersistRejected struct{ Err error }

	// SnapshotCompleted comes when a snapshot has been saved.
	SnapshotCompleted struct {
		Seq uint64 // of the last event that is in the snapshot
	}

	// SnapshotFailed comes when a snapshot could not be saved. The actor goes on.
	SnapshotFailed struct {
		Seq uint64
		Err error
	}

	// EventsDeleted comes when all events up to To have been deleted, see [DeleteEvents].
	EventsDeleted struct{ To uint64 }

	// DeleteEventsFailed comes when they could not be, or when they were left as the snapshot
	// at To cannot be read back. The actor goes on, and the next snapshot makes good for it.
	DeleteEventsFailed struct {
		To  uint64
		Err error
	}

	// SnapshotsDeleted comes when all snapshots up to To have been deleted, as newer ones
	// are enough.
	SnapshotsDeleted struct{ To uint64 }

	// DeleteSnapshotsFailed comes when they could not be, or when they were left as the
	// oldest of the newer ones cannot be read back. The actor goes on, and the next snapshot
	// makes good for it.
	DeleteSnapshotsFailed struct {
		To  uint64
		Err error
	}
)

// errSignalStashed fails an actor that wants to put a signal aside.
var errSignalStashed = errors.New("persistence: a signal cannot be put aside; Stash is for commands")

// tell gives sig to the user's handler, if there is one, and does what that returns.
// handled is false when it was not meant for the handler.
func (e *entity[M, E, S]) tell(sig Signal) (next actor.Behavior[M], handled bool) {
	plan := e.ask(sig)
	if plan.unhandled {
		return nil, false
	}
	return e.answer(plan), true
}

// ask gives sig to the user's handler, and returns what that wants done.
func (e *entity[M, E, S]) ask(sig Signal) *Plan[E] {
	if e.OnSignal == nil {
		return &Plan[E]{unhandled: true}
	}
	return planOf(e.OnSignal(e.ctx, e.state, sig))
}

// answer does what a signal led to, and what that unstashes.
func (e *entity[M, E, S]) answer(plan *Plan[E]) actor.Behavior[M] {
	if plan.stash {
		return e.ctx.Fail(errSignalStashed)
	}
	next, err := e.execute(plan)
	if err != nil {
		return e.ctx.Fail(err)
	}
	if next != nil {
		return next
	}
	return e.work()
}

// announce gives sig, which tells of a failure, to the user's handler. The actor fails
// whatever that returns; a panic in it is in the log, so that the failure stays what it is.
func (e *entity[M, E, S]) announce(sig Signal) {
	err := guard.Run(func() error { e.ask(sig); return nil })
	if err != nil {
		e.log.Error("signal handler failed", zap.String("signal", fmt.Sprintf("%T", sig)), zap.Error(err))
	}
}

// lifeSignal handles the signals of every actor.
func (e *entity[M, E, S]) lifeSignal(_ *actor.Context[M], sig actor.Signal) actor.Behavior[M] {
	switch sig.(type) {
	case actor.Terminated, actor.ChildFailed, actor.AdaptFailed:
		if e.failure != nil {
			return e.ctx.Fail(e.failure)
		}
		defer e.goOn()
		if next, handled := e.tell(sig); handled {
			return next
		}
		return func(_ *actor.Context[M], next *actor.Next[M]) { next.Unhandled() }
	case actor.PostStop, actor.PreRestart:
		e.ask(sig)
	}
	return nil
}

// News are signals from the background, which wait for the actor.
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
		return nil, false
	}
	sig, n.waiting = n.waiting[0], n.waiting[1:]
	return sig, true
}

func (n *news) any() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.waiting) > 0
}

// report has sig handled inside the actor. It may be called from any goroutine.
func (e *entity[M, E, S]) report(sig Signal) {
	if e.OnSignal != nil {
		e.news.add(sig)
		e.wake()
	}
}
