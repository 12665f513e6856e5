package persistence

import (
	"context"
	"fmt"

	"go.uber.org/zap"
)

// A recovery is how far an entity has come in restoring its state.
type recovery[S any] struct {
	claim Claim
	epoch uint64 // of the last record
	seq   uint64
	state S
}

// recover restores the state. It returns what is to be done about that.
func (e *entity[M, E, S]) recover(ctx context.Context) (plan *Plan[E], err error) {
	var r recovery[S]
	err = e.retrier().do(ctx, func() error {
		return guarded(func() error { return e.restore(ctx, &r) })
	})
	if err == nil {
		e.epoch, e.seq, e.state = r.claim.Epoch, r.seq, r.state
		e.log.Debug("recovered", zap.Uint64("seq", e.seq), zap.Uint64("epoch", e.epoch))
		err = guarded(func() error { plan = e.ask(RecoveryCompleted{Seq: e.seq}); return nil })
	}
	if err != nil {
		e.state = e.initial
		return nil, &RecoveryError{ID: e.id, Seq: r.seq, Err: err}
	}
	return plan, nil
}

// restore claims the id, by which no older writer can add anything any more, and then
// reads all there is. It waits for its turn among the actors of the system.
func (e *entity[M, E, S]) restore(ctx context.Context, r *recovery[S]) error {
	*r = recovery[S]{state: e.initial}
	release, err := acquire(ctx, e.ctx.System())
	if err != nil {
		return err
	}
	defer release()
	ctx, idle := withIdleTimeout(ctx, e.recoveryTimeout)
	defer idle.stop()
	claim, err := claimFor(ctx, e.journal, e.id, e.writer)
	if err != nil {
		return idle.explain(err)
	}
	r.claim = claim
	idle.progress()
	if err := e.loadSnapshot(ctx, r); err != nil {
		return idle.explain(err)
	}
	idle.progress()
	return idle.explain(e.replay(ctx, idle, r))
}

// loadSnapshot begins at the newest snapshot, if there is one.
func (e *entity[M, E, S]) loadSnapshot(ctx context.Context, r *recovery[S]) error {
	if e.store == nil || r.claim.LastSeq == 0 {
		return nil
	}
	s, ok, skipped, err := e.store.LoadSnapshot(ctx, e.id, r.claim.LastSeq)
	if len(skipped) > 0 {
		e.log.Warn("damaged snapshots passed over", zap.Uint64s("seqs", skipped))
	}
	if err != nil || !ok {
		return err
	}
	state, err := unpack[S](e.ctx.System(), s.Type, s.Payload)
	if err != nil {
		return fmt.Errorf("snapshot at %d: %w", s.Seq, err)
	}
	r.seq, r.state = s.Seq, state
	return nil
}

// replay applies the events that follow, and checks that there are all.
func (e *entity[M, E, S]) replay(ctx context.Context, idle *idleTimeout, r *recovery[S]) error {
	claim := r.claim
	if r.seq < claim.DeletedTo {
		return fmt.Errorf("%w: the events up to %d are deleted, and no snapshot has them", ErrCorrupt, claim.DeletedTo)
	}
	if r.seq == claim.LastSeq {
		return nil
	}
	for record, err := range e.journal.Read(ctx, e.id, r.seq+1, claim.LastSeq) {
		if err != nil {
			return err
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

func (e *entity[M, E, S]) apply(r *recovery[S], record *Record) error {
	if err := r.follows(record); err != nil {
		return err
	}
	state, err := e.replayed(r.state, record)
	if err != nil {
		return fmt.Errorf("event %d: %w", record.Seq, err)
	}
	r.state, r.seq, r.epoch = state, record.Seq, record.Epoch
	return nil
}

// follows checks that record has the next sequence number, and was not written by somebody
// who had been fenced off by then: no journal lets that happen, so it was none.
func (r *recovery[S]) follows(record *Record) error {
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
