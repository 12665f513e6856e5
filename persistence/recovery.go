package persistence

import (
	"context"
	"fmt"

	"go.uber.org/zap"
)

// A recovery is how far an entity has come in restoring its state.
type recovery[S any] struct {
	epoch uint64
	seq   uint64
	state S
}

// recover restores the state.
func (e *entity[M, E, S]) recover(ctx context.Context) error {
	var r recovery[S]
	err := e.retrier().do(ctx, func() error {
		return guarded(func() error { return e.restore(ctx, &r) })
	})
	if err != nil {
		return &RecoveryError{ID: e.id, Seq: r.seq, Err: err}
	}
	e.epoch, e.seq, e.state = r.epoch, r.seq, r.state
	e.log.Debug("recovered", zap.Uint64("seq", e.seq), zap.Uint64("epoch", e.epoch))
	return nil
}

// restore claims the id, by which no older writer can add anything any more, and then
// reads all there is.
func (e *entity[M, E, S]) restore(ctx context.Context, r *recovery[S]) error {
	*r = recovery[S]{state: e.initial}
	ctx, idle := withIdleTimeout(ctx, e.recoveryTimeout)
	defer idle.stop()
	claim, err := claimFor(ctx, e.journal, e.id, e.writer)
	if err != nil {
		return idle.explain(err)
	}
	r.epoch = claim.Epoch
	idle.progress()
	if err := e.loadSnapshot(ctx, claim, r); err != nil {
		return idle.explain(err)
	}
	idle.progress()
	return idle.explain(e.replay(ctx, idle, claim, r))
}

// loadSnapshot begins at the newest snapshot, if there is one.
func (e *entity[M, E, S]) loadSnapshot(ctx context.Context, claim Claim, r *recovery[S]) error {
	if e.store == nil || claim.LastSeq == 0 {
		return nil
	}
	s, ok, skipped, err := e.store.LoadSnapshot(ctx, e.id, claim.LastSeq)
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
func (e *entity[M, E, S]) replay(ctx context.Context, idle *idleTimeout, claim Claim, r *recovery[S]) error {
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
	if record.Seq != r.seq+1 {
		return fmt.Errorf("%w: event %d follows %d", ErrCorrupt, record.Seq, r.seq)
	}
	event, err := unpack[E](e.ctx.System(), record.Type, record.Payload)
	if err != nil {
		return fmt.Errorf("event %d: %w", record.Seq, err)
	}
	r.state = e.onEvent(r.state, event)
	r.seq = record.Seq
	return nil
}
