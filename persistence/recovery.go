package persistence

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/permits"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence/journal"
)

type recovery struct {
	claim    journal.Claim
	epoch    uint64 // of the last record
	seq      uint64
	events   uint64 // that were replayed
	at       states
	skipped  []SnapshotSkipped // in the order in which they were skipped
	shredded uint64            // events and snapshots whose keys were destroyed
	timers   []journal.Timer
	once     *keys // nil for none

	reached atomic.Uint64 // seq, for the actor if it abandons the recovery
}

// recover restores the state. It returns the plan of the effect of RecoveryCompleted.
func (e *entity) recover(ctx context.Context) (plan *plan, err error) {
	ctx, end := extension.StartRootSpan(ctx, e.ctx.System(), nil, extension.Span{Operation: "recover", Path: e.self.Path})
	defer func() { storing(end).end(err) }()
	var r *recovery
	begun := time.Now()
	err = e.retrier().do(ctx, func() error {
		defer e.obstacle.recovers().end()
		r = new(recovery) // an abandoned attempt may still write to the one before
		return e.restore(ctx, r)
	})
	if err == nil {
		e.obstacle.told = true // perhaps those of the incarnation before
		e.obstacle.isOver()    //nolint:contextcheck // it takes the actor's context, not a context.Context
		e.counts.restored(begun, r.events)
		e.epoch = r.claim.Epoch
		e.at, e.once = r.at, r.once
		e.user.commit(e.at)
		e.setState(r.seq)
		if len(r.timers) > 0 {
			timersOf(e).load(r.timers)
		}
		// RecoveryCompleted comes last: its effect may persist events and change timers.
		e.caller.log.Debug("recovered", zap.Uint64("seq", e.seq), zap.Uint64("epoch", e.epoch))
		err = guard.Run(func() error {
			plan = e.ask(RecoveryCompleted{Seq: e.seq, Epoch: e.epoch, Shredded: r.shredded})
			return nil
		})
	}
	if err != nil {
		e.counts.failed.Add(1)
		e.at = e.user.begin(nil)
		return nil, &RecoveryError{ID: e.id, Seq: r.reached.Load(), Err: err}
	}
	for _, sig := range r.skipped {
		e.report(sig)
	}
	return plan, nil
}

// restore waits for its turn among the actors of the system, and then reads the state in a separate
// goroutine. If the call is abandoned, r belongs to that goroutine.
func (e *entity) restore(ctx context.Context, r *recovery) error {
	if err := refusedMemory(e.inMemory); err != nil {
		return err
	}
	if err := e.caller.admit(); err != nil {
		return err
	}
	release, err := acquire(ctx, e.ctx.System())
	if err != nil {
		return err
	}
	defer release()
	extension.WillBlock(e.ctx) //nolint:contextcheck // it takes the actor's context, not a context.Context
	ctx, timeout := withRecoveryTimeout(ctx, e.RecoveryTimeout, func(left time.Duration) {
		e.caller.log.Warn("recovery makes little progress", zap.Uint64("seq", r.reached.Load()), zap.Duration("endsIn", left))
	})
	defer timeout.stop()
	claim := tenure.Claim{Path: e.self.Path(), ID: e.id}
	return timeout.explain(e.caller.call(ctx, "recovery", func() error { return e.read(ctx, claim, timeout, r) }))
}

// read claims the id, so that no older writer can add events, and then reads the state.
func (e *entity) read(ctx context.Context, by tenure.Claim, timeout *recoveryTimeout, r *recovery) error {
	// The claim comes first. From then on the journal refuses older writers, so its LastSeq is
	// final, and the snapshot and the events that are read below cannot change.
	claim, err := claimFor(ctx, e.journal, e.calls, by, e.writer)
	if err != nil {
		return err
	}
	r.claim = claim
	timeout.step()
	if err := loadTimers(ctx, e, timeout, r); err != nil {
		return err
	}
	if err := e.loadSnapshot(ctx, timeout, r); err != nil {
		return err
	}
	if r.at == nil {
		r.at = e.user.begin(nil)
	}
	return e.replay(ctx, timeout, r)
}

// loadTimers reads the timers, unless the claim has them.
func loadTimers(ctx context.Context, e *entity, timeout *recoveryTimeout, r *recovery) (err error) {
	switch {
	case e.timerStore == nil:
		return nil
	case r.claim.TimersKnown:
		r.timers = r.claim.Timers
	default:
		r.timers, err = e.timerStore.Timers(ctx, e.id)
	}
	if len(r.timers) > 0 {
		clockOf(e.ctx.System(), e.timerStore).Refresh(ctx)
	}
	timeout.step()
	return err
}

// loadSnapshot starts from the newest snapshot that can be decoded, if there is one.
func (e *entity) loadSnapshot(ctx context.Context, timeout *recoveryTimeout, r *recovery) error {
	if e.store == nil {
		return nil
	}
	for before := r.claim.LastSeq; before > 0; {
		s, ok, damaged, err := e.store.LoadSnapshot(ctx, e.id, before)
		timeout.step()
		if len(damaged) > 0 {
			e.caller.log.Warn("damaged snapshots skipped", zap.Uint64s("seqs", damaged))
			r.skip(ErrCorrupt, damaged...)
		}
		if err != nil || !ok {
			return err
		}
		if s.Shredded {
			r.shredded++
			r.at = e.user.begin(nil)
			r.reach(s.Seq)
			return nil
		}
		state, keys, err := e.stateOf(&s)
		switch {
		case err == nil:
			r.at = e.user.begin(state)
			know(e, r, keys)
			r.reach(s.Seq)
			return nil
		case errors.Is(err, ErrCodec): // it is intact, but this program lacks the codec or key
			return err
		case s.Seq == 0 || s.Seq > before:
			return fmt.Errorf("%w: a snapshot up to %d was asked for, and the store has answered with %d", ErrCorrupt, before, s.Seq)
		}
		e.caller.log.Error("snapshot skipped: it cannot be decoded", zap.Uint64("seq", s.Seq), zap.Error(err))
		r.skip(err, s.Seq)
		before = s.Seq - 1
	}
	return nil
}

func (e *entity) stateOf(s *journal.Snapshot) (state any, known []keyed, err error) {
	err = guard.Run(func() error {
		p, keys, err := apart(s.Type, s.Payload)
		if err == nil {
			state, err = unpack(e.ctx.System(), e.user.types().state, p.Type, p.Data)
			known = keys
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("snapshot at %d: %w", s.Seq, err)
	}
	return state, known, err
}

// know adds keys of commands to what is restored.
func know(e *entity, r *recovery, known []keyed) {
	if len(known) > 0 && r.once == nil {
		r.once = e.newKeys()
	}
	now := time.Now()
	for i := range known {
		r.once.add(&known[i], now)
	}
}

func (r *recovery) reach(seq uint64) {
	r.seq = seq
	r.reached.Store(seq)
}

func (r *recovery) skip(err error, seqs ...uint64) {
	for _, seq := range seqs {
		r.skipped = append(r.skipped, SnapshotSkipped{Seq: seq, Err: err})
	}
}

// deleted is the error for events that are needed but deleted. It includes the reasons why no
// snapshot replaces them.
func (r *recovery) deleted() error {
	err := fmt.Errorf("%w: the events up to %d are deleted, and no snapshot has them", ErrCorrupt, r.claim.DeletedTo)
	for _, s := range r.skipped {
		if s.Err != ErrCorrupt { //nolint:errorlint // nothing more is known about damaged ones
			err = fmt.Errorf("%w; %w", err, s.Err)
		}
	}
	return err
}

func (e *entity) replay(ctx context.Context, timeout *recoveryTimeout, r *recovery) error {
	claim := r.claim
	if r.seq < claim.DeletedTo {
		return r.deleted()
	}
	if r.seq == claim.LastSeq {
		return nil
	}
	for record, err := range e.calls.measured(e.journal.Read(ctx, e.id, r.seq+1, claim.LastSeq)) {
		if err != nil {
			return err
		}
		if ctx.Err() != nil { // the actor may have abandoned the call
			return context.Cause(ctx)
		}
		if err := e.apply(r, &record); err != nil {
			return err
		}
		r.events++
		timeout.event()
	}
	if r.seq != claim.LastSeq {
		return fmt.Errorf("%w: the events end at %d, but %d have been stored", ErrCorrupt, r.seq, claim.LastSeq)
	}
	return nil
}

func (e *entity) apply(r *recovery, record *journal.Record) error {
	if err := r.follows(record); err != nil {
		return err
	}
	if record.Shredded {
		r.shredded++
	} else if err := e.replayed(r.at, record); err != nil {
		return fmt.Errorf("event %d: %w", record.Seq, err)
	}
	if len(record.Meta) > 0 {
		stored, err := keysIn(record)
		if err != nil {
			return err
		}
		know(e, r, stored.Keys)
	}
	r.epoch = record.Epoch
	r.reach(record.Seq)
	return nil
}

// follows checks that record has the next sequence number, and that its writer had not been fenced
// off before. No correct journal stores a record that fails these checks.
func (r *recovery) follows(record *journal.Record) error {
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

// claimFor makes the claim by of an actor whose context is ctx. For the instance of a singleton,
// and for the actors that it spawns, the epoch belongs to the term of the instance. The claim is
// refused if a later term has claimed the id, and the singleton then asks for a term above that
// one.
func claimFor(ctx context.Context, j Journal, calls *journalMetrics, by tenure.Claim, writer journal.WriterID) (journal.Claim, error) {
	under := tenure.Of(ctx)
	least, below, err := under.Bounds()
	if err != nil {
		return journal.Claim{}, fmt.Errorf("claim %q: %w", by.ID, err)
	}
	begun := time.Now()
	claim, err := j.Claim(ctx, by.ID, writer, journal.Bounds{Least: least, Below: below})
	calls.claim(begun, err)
	if err != nil {
		return journal.Claim{}, under.Refused(by, err)
	}
	under.Claimed(by, claim.Epoch)
	return claim, nil
}

const defaultRecoveries = 50

// LimitRecoveries lets at most n actors of s recover at the same time, so that many actors that
// start at once do not overload the store. The others wait. The types of entities of package
// sharding are served in turn, so none waits for all of another. Without this call, n is 50. It
// affects recoveries that start afterwards, so call it first. It panics unless n is positive.
//
// The reaction of an actor to [RecoveryCompleted] does not count as recovery.
func LimitRecoveries(s *actor.System, n int) {
	if n <= 0 {
		panic(fmt.Sprintf("persistence: limit of %d recoveries is not positive", n))
	}
	extension.Set(s, permits.New(n))
}

func acquire(ctx context.Context, s *actor.System) (release func(), err error) {
	p := extension.Ensure(s, func() *permits.Permits { return permits.New(defaultRecoveries) })
	if err := metricsOf(s).wait(ctx, p); err != nil {
		return nil, fmt.Errorf("wait for other recoveries: %w", err)
	}
	return p.Release, nil
}
