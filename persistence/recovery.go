package persistence

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/fence"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/persistence/journal"

	"go.uber.org/zap"
)

// A recovery is how far an entity has come in restoring its state.
type recovery[S any] struct {
	claim   journal.Claim
	epoch   uint64 // of the last record
	seq     uint64
	state   S
	skipped []SnapshotSkipped // in the order in which they were passed over

	reached atomic.Uint64 // seq, for the actor when it abandons the recovery
}

// recover restores the state. It returns what is to be done about that.
func (e *entity[M, E, S]) recover(ctx context.Context) (plan *Plan[E], err error) {
	var r *recovery[S]
	err = e.retrier().do(ctx, func() error {
		r = &recovery[S]{state: e.initial}
		return e.restore(ctx, r)
	})
	if err == nil {
		e.epoch = r.claim.Epoch
		e.become(r.state, r.seq)
		e.log.Debug("recovered", zap.Uint64("seq", e.seq), zap.Uint64("epoch", e.epoch))
		err = guard.Run(func() error { plan = e.ask(RecoveryCompleted{Seq: e.seq}); return nil })
	}
	if err != nil {
		e.state = e.initial
		return nil, &RecoveryError{ID: e.id, Seq: r.reached.Load(), Err: err}
	}
	for _, sig := range r.skipped {
		e.report(sig)
	}
	return plan, nil
}

// restore waits for its turn among the actors of the system, and then reads all there is,
// in a goroutine of its own. When that is abandoned, r belongs to it.
func (e *entity[M, E, S]) restore(ctx context.Context, r *recovery[S]) error {
	if err := e.caller.admit(); err != nil {
		return err
	}
	release, err := acquire(ctx, e.ctx.System())
	if err != nil {
		return err
	}
	defer release()
	extension.WillBlock(e.ctx)
	ctx, idle := withIdleTimeout(ctx, e.RecoveryTimeout)
	defer idle.stop()
	return idle.explain(e.caller.call(ctx, "recovery", func() error { return e.read(ctx, idle, r) }))
}

// read claims the id, by which no older writer can add anything any more, and then reads
// the state.
func (e *entity[M, E, S]) read(ctx context.Context, idle *idleTimeout, r *recovery[S]) error {
	claim, err := claimFor(ctx, e.journal, e.id, e.writer)
	if err != nil {
		return err
	}
	r.claim = claim
	idle.progress()
	if err := e.loadSnapshot(ctx, idle, r); err != nil {
		return err
	}
	return e.replay(ctx, idle, r)
}

// loadSnapshot begins at the newest snapshot that can be decoded, if there is one.
func (e *entity[M, E, S]) loadSnapshot(ctx context.Context, idle *idleTimeout, r *recovery[S]) error {
	if e.store == nil {
		return nil
	}
	for before := r.claim.LastSeq; before > 0; {
		s, ok, damaged, err := e.store.LoadSnapshot(ctx, e.id, before)
		idle.progress()
		if len(damaged) > 0 {
			e.log.Warn("damaged snapshots passed over", zap.Uint64s("seqs", damaged))
			r.skip(ErrCorrupt, damaged...)
		}
		if err != nil || !ok {
			return err
		}
		state, err := e.stateOf(&s)
		switch {
		case err == nil:
			r.begin(s.Seq, state)
			return nil
		case errors.Is(err, ErrCodec): // it is sound, but this program lacks what it needs to read it
			return err
		case s.Seq == 0 || s.Seq > before:
			return fmt.Errorf("%w: a snapshot up to %d was asked for, and the store has answered with %d", ErrCorrupt, before, s.Seq)
		}
		e.log.Error("snapshot passed over: it cannot be decoded", zap.Uint64("seq", s.Seq), zap.Error(err))
		r.skip(err, s.Seq)
		before = s.Seq - 1
	}
	return nil
}

// stateOf decodes s. A panic of the state's own decoder is an error.
func (e *entity[M, E, S]) stateOf(s *journal.Snapshot) (state S, err error) {
	err = guard.Run(func() (err error) { state, err = unpack[S](e.ctx.System(), s.Type, s.Payload); return err })
	if err != nil {
		err = fmt.Errorf("snapshot at %d: %w", s.Seq, err)
	}
	return state, err
}

// begin takes the state of a snapshot.
func (r *recovery[S]) begin(seq uint64, state S) {
	r.seq, r.state = seq, state
	r.reached.Store(seq)
}

// skip notes that snapshots are of no use.
func (r *recovery[S]) skip(err error, seqs ...uint64) {
	for _, seq := range seqs {
		r.skipped = append(r.skipped, SnapshotSkipped{Seq: seq, Err: err})
	}
}

// deleted is the error of events that are needed and gone. It has the reasons why there is
// no snapshot that stands in for them.
func (r *recovery[S]) deleted() error {
	err := fmt.Errorf("%w: the events up to %d are deleted, and no snapshot has them", ErrCorrupt, r.claim.DeletedTo)
	for _, s := range r.skipped {
		if s.Err != ErrCorrupt { //nolint:errorlint // of those that are damaged nothing more is known
			err = fmt.Errorf("%w; %w", err, s.Err)
		}
	}
	return err
}

// replay applies the events that follow, and checks that there are all.
func (e *entity[M, E, S]) replay(ctx context.Context, idle *idleTimeout, r *recovery[S]) error {
	claim := r.claim
	if r.seq < claim.DeletedTo {
		return r.deleted()
	}
	if r.seq == claim.LastSeq {
		return nil
	}
	for record, err := range e.journal.Read(ctx, e.id, r.seq+1, claim.LastSeq) {
		if err != nil {
			return err
		}
		if ctx.Err() != nil { // nobody may be waiting any more
			return context.Cause(ctx)
		}
		if err := e.apply(r, &record); err != nil {
			return err
		}
		idle.progress()
	}
	if r.seq != claim.LastSeq {
		return fmt.Errorf("%w: the events end at %d, but %d have been stored", ErrCorrupt, r.seq, claim.LastSeq)
	}
	return nil
}

func (e *entity[M, E, S]) apply(r *recovery[S], record *journal.Record) error {
	if err := r.follows(record); err != nil {
		return err
	}
	state, err := e.replayed(r.state, record)
	if err != nil {
		return fmt.Errorf("event %d: %w", record.Seq, err)
	}
	r.epoch = record.Epoch
	r.begin(record.Seq, state)
	return nil
}

// follows checks that record has the next sequence number, and was not written by somebody
// who had been fenced off by then: no journal lets that happen, so it was none.
func (r *recovery[S]) follows(record *journal.Record) error {
	switch {
	case record.Meta[metaKind] == kindState:
		return fmt.Errorf("%w: record %d is a durable state; take an id that no durable state has used", ErrNotEvent, record.Seq)
	case record.Seq != r.seq+1:
		return fmt.Errorf("%w: event %d follows %d", ErrCorrupt, record.Seq, r.seq)
	case record.Epoch < r.epoch:
		return fmt.Errorf("%w: event %d was written under claim %d, and the one before under %d, which had fenced it off", ErrCorrupt, record.Seq, record.Epoch, r.epoch)
	case record.Epoch >= r.claim.Epoch:
		return fmt.Errorf("%w: event %d was written under claim %d, which should be before this one, %d", ErrCorrupt, record.Seq, record.Epoch, r.claim.Epoch)
	}
	return nil
}

// claimFor claims id for an actor whose context is ctx. For the instance of a singleton, the
// epoch is at least its generation, and the singleton learns the epoch: both agree, and
// generations outlive clusters because the journal does.
func claimFor(ctx context.Context, j Journal, id string, writer journal.WriterID) (journal.Claim, error) {
	floor, err := fence.Floor(ctx)
	if err != nil {
		return journal.Claim{}, fmt.Errorf("claim %q: %w", id, err)
	}
	claim, err := j.Claim(ctx, id, writer, floor)
	if err != nil {
		return journal.Claim{}, err
	}
	fence.Claimed(ctx, claim.Epoch)
	return claim, nil
}
