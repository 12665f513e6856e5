package persistence

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/entityhook"
	"github.com/understudy-go/understudy/internal/fence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// An entity is one incarnation of an event-sourced actor. Only the actor uses it.
type entity[M, E, S any] struct {
	*definition[M, E, S]
	ctx    *actor.Context[M]
	slow   bool // the last append has blocked
	log    *zap.Logger
	caller storeCaller
	counts *metrics        // of the system
	calls  *journalMetrics // of the journal
	writer journal.WriterID
	seen   *entityhook.Observer // nil without one
	wake   func()               // runs awake inside the actor; for any goroutine

	failure  error // of the journal; the actor does nothing after it
	excused  bool  // OnSignal has handled the last rejection, and may reply later
	epoch    uint64
	seq      uint64 // of the last event in state
	state    S
	commands commands[M]
	pausing  *pausingWriter   // nil if the journal must be waited for
	pending  pending[M, E, S] // what pausing stores

	tasks     sync.WaitGroup // saving of snapshots
	news      news
	snapshots *snapshotter // nil without snapshots
	idleness  *idleness    // nil without PassivateAfter
	timers    *timers      // nil before there is one
}

func newEntity[M, E, S any](d *definition[M, E, S], ctx *actor.Context[M]) *entity[M, E, S] {
	e := &entity[M, E, S]{
		definition: d,
		ctx:        ctx,
		log:        ctx.Log().With(zap.String("id", d.id)),
		state:      d.initial,
	}
	e.counts = metricsOf(ctx.System())
	e.calls = e.counts.journals.Of(storeName(d.journal))
	e.caller = storeCaller{system: ctx.System(), id: d.id, log: e.log}
	_, _ = rand.Read(e.writer[:]) // never fails
	e.seen = entityhook.Of(ctx, ctx.Self().Path())
	e.wake = ctx.Notify(e.awake)
	if d.snapshots() {
		e.snapshots = e.newSnapshotter()
	}
	if d.async != nil {
		e.pausing = newPausingWriter(d.async, e.calls, d.PersistTimeout, extension.NewPause(ctx, e.afterPause))
	}
	return e
}

// begin recovers, and then handles commands. A stop cancels recovery.
func (e *entity[M, E, S]) begin(next *actor.Next[M]) {
	plan, err := e.recover(e.ctx)
	switch {
	case err == nil:
		next.OnMessage, next.OnSignal = e.receive, e.lifeSignal
		e.beginIdleness()
		if then := e.answer(plan); then != nil {
			then(e.ctx, next)
		}
		if e.seen != nil {
			e.seen.Ready()
		}
	case e.ctx.Err() != nil, errors.Is(err, fence.ErrLater):
		next.Stop()
	default:
		e.announce(RecoveryFailed{Err: err})
		next.Fail(err)
	}
}

// receive runs cmd, and the commands that it unstashes.
func (e *entity[M, E, S]) receive(ctx *actor.Context[M], cmd M) actor.Behavior[M] {
	if e.failure != nil { // supervision has resumed the actor, but it cannot continue
		return e.ctx.Fail(e.failure)
	}
	defer e.goOn()
	defer e.idleness.busy()
	e.commands.put(command[M]{msg: cmd, ctx: ctx})
	return e.work()
}

// work runs the commands in turn, until the actor pauses or is told to stop.
func (e *entity[M, E, S]) work() actor.Behavior[M] {
	for e.commands.any() && e.ctx.Err() == nil && !e.pausing.busy() {
		next, err := e.run(e.commands.next())
		if err != nil {
			return e.ctx.Fail(err)
		}
		if next != nil {
			return next
		}
	}
	return nil
}

// awake handles signals from the background, commands in turn, and idleness.
func (e *entity[M, E, S]) awake() actor.Behavior[M] {
	if e.failure != nil {
		return nil
	}
	defer e.goOn()
	for sig, ok := e.news.take(); ok; sig, ok = e.news.take() {
		if next, _ := e.tell(sig); next != nil {
			return next
		}
	}
	next, err := fire(e)
	switch {
	case err != nil:
		return e.ctx.Fail(err)
	case next != nil:
		return next
	case e.commands.any() || e.pausing.busy():
		e.idleness.later()
		return e.work()
	}
	return e.rest()
}

// goOn wakes the actor if there is work left, for example after supervision has resumed it.
func (e *entity[M, E, S]) goOn() {
	if e.failure == nil && e.ctx.Err() == nil && !e.pausing.busy() && (e.commands.any() || e.news.any()) {
		e.wake()
	}
}

// setState sets the state of the actor to state, which contains the events up to seq.
func (e *entity[M, E, S]) setState(state S, seq uint64) {
	e.state, e.seq = state, seq
	if e.seen != nil {
		e.seen.Changed(e.id, state)
	}
}

// run handles cmd and executes its effect, or begins to: then the actor pauses.
func (e *entity[M, E, S]) run(cmd command[M]) (actor.Behavior[M], error) {
	if cmd.timer != nil && !e.timers.current(cmd.timer) {
		return nil, nil
	}
	plan := handle(e, cmd)
	if plan.unhandled {
		e.ctx.System().Publish(actor.UnhandledMessage{Recipient: e.ctx.Self().Path(), Message: cmd.msg})
	}
	return perform(e, cmd, plan)
}

// perform executes the plan of cmd, or begins to: then the actor pauses.
func perform[M, E, S any](e *entity[M, E, S], cmd command[M], plan *Plan[E]) (actor.Behavior[M], error) {
	if !plan.writes() {
		return e.finish(plan, cmd, e.follow(plan), nil)
	}
	b, err := e.batch(plan)
	traced := trace(cmd.ctx, &b.req)
	if err == nil && e.pausing.store(b.req) {
		e.pending = pending[M, E, S]{cmd, plan, b, traced}
		return nil, nil
	}
	if err == nil {
		err = e.write(b.req, failedAttempt{})
	}
	traced.end(err)
	next, err := e.stored(plan, b, err)
	return e.finish(plan, cmd, next, err)
}

// finish stashes cmd, whose effect has been executed, if that says so. It returns next and err. The
// message of a timer comes again if its effect was not stored, or the stash has no room for it. An
// ask whose effect was not stored ends with the reason, and not with the end of the actor, unless
// the behavior sees to it.
func (e *entity[M, E, S]) finish(plan *Plan[E], cmd command[M], next actor.Behavior[M], err error) (actor.Behavior[M], error) {
	full := plan.stash && err == nil && !e.commands.stash(cmd, e.StashCapacity)
	switch {
	case cmd.timer != nil && (full || err != nil):
		retry(e, cmd.timer)
	case full:
		e.deadLetter(cmd.msg, actor.ErrStashFull)
	case err != nil && !e.excused:
		extension.Refuse(e.ctx.System(), cmd.msg, err)
	}
	return next, err
}

// execute stores the events of plan, and then runs its chained actions.
func (e *entity[M, E, S]) execute(plan *Plan[E]) (actor.Behavior[M], error) {
	if !plan.writes() {
		return e.follow(plan), nil
	}
	b, err := e.batch(plan)
	if err == nil {
		err = e.write(b.req, failedAttempt{})
	}
	return e.stored(plan, b, err)
}

// follow runs the chained actions of plan, whose events are durable.
func (e *entity[M, E, S]) follow(plan *Plan[E]) actor.Behavior[M] {
	for _, f := range plan.then {
		f()
	}
	e.commands.unstash(plan.unstash)
	if plan.stop {
		return func(_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }
	}
	return nil
}

// end waits for background work. Stashed commands become dead letters, unless the actor restarts
// after a failure of the journal: then they go back to the mailbox. Those of an entity go back to
// its shard.
func (e *entity[M, E, S]) end() {
	defer e.tasks.Wait()
	e.pausing.end()
	e.idleness.end()
	endTimers(e)
	if e.failure == nil && extension.PutBack(e.ctx, e.commands.messages()) {
		return
	}
	leave := func(cmd command[M]) { e.ctx.Self().TellContext(cmd.ctx, cmd.msg) }
	switch {
	case e.ctx.Err() != nil:
		leave = func(cmd command[M]) { e.deadLetter(cmd.msg, actor.ErrTerminated) }
	case e.failure == nil:
		reason := fmt.Errorf("%w: the actor was restarted while the command was stashed", actor.ErrDropped)
		leave = func(cmd command[M]) { e.deadLetter(cmd.msg, reason) }
	}
	for _, cmd := range e.commands.all() {
		leave(cmd)
	}
}

func (e *entity[M, E, S]) deadLetter(cmd M, reason error) {
	extension.DeadLetter(e.ctx.System(), e.ctx.Self().String(), cmd, reason)
}
