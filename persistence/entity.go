package persistence

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/internal/volatile"
	"github.com/understudy-go/understudy/persistence/journal"
)

// An entity is one incarnation of an event-sourced actor. Only the actor uses it.
type entity struct {
	*definition
	ctx    actorContext
	self   actor.AnyRef
	caller storeCaller
	counts *metrics        // of the system
	calls  *journalMetrics // of the journal
	writer journal.WriterID
	seen   *tenure.Observer // nil without one
	wake   func()           // runs awake inside the actor; for any goroutine

	obstacle obstacle

	failure  error // of the journal; the actor does nothing after it
	excused  bool  // OnSignal has handled the last rejection, and may reply later
	slow     bool  // the last append has blocked
	epoch    uint64
	seq      uint64 // of the last event in the present state
	at       states
	commands commands
	pausing  *pausingWriter // nil if the journal must be waited for
	pending  pending        // what is being stored

	tasks     sync.WaitGroup // saving of snapshots
	news      news
	snapshots *snapshotter    // nil without snapshots
	idleness  *idleness       // nil without PassivateAfter
	timers    *timers         // nil before there is one
	inMemory  *volatile.Watch // nil unless the journal is in memory, and cluster.Config.Strict is set
	once      *keys           // of commands; nil before there is one
}

func newEntity(d *definition, ctx actorContext, self actor.AnyRef) *entity {
	e := &entity{definition: d, ctx: ctx, self: self}
	if d.nonBlocking { // as only a journal in memory is
		e.inMemory = watchMemory(ctx.System(), d.id)
	}
	e.counts = metricsOf(ctx.System())
	e.calls = e.counts.journals.Of(storeName(d.journal))
	e.caller = storeCaller{system: ctx.System(), id: d.id, log: ctx.Log().With(zap.String("id", d.id))}
	e.obstacle.of = e
	_, _ = rand.Read(e.writer[:]) // never fails
	e.seen = tenure.ObserverOf(ctx, e.self.Path())
	if d.snapshots() {
		e.snapshots = e.newSnapshotter()
	}
	return e
}

// begin recovers, and then lets the actor handle commands. A stop cancels recovery. If somebody
// only looks at what is stored, the actor ends after that.
func (e *entity) begin() (o outcome, recovered bool) {
	if l := inspect.Of(e.ctx, e.self.Path()); l != nil {
		l.Answer(look(e.ctx, e, l.Query))
		return outcome{stop: true}, false
	}
	plan, err := e.recover(e.ctx)
	switch {
	case err == nil:
		e.beginIdleness()
		o = e.answer(plan)
		if e.seen != nil {
			e.seen.Ready()
		}
		return o, true
	case e.ctx.Err() != nil, errors.Is(err, tenure.ErrLater):
		return outcome{stop: true}, false
	}
	e.announce(RecoveryFailed{Err: err})
	return outcome{err: err}, false
}

// receive runs a command, and the commands that it unstashes.
func (e *entity) receive(ctx actorContext, msg any, m extension.Metadata) outcome {
	if e.inMemory != nil && e.failure == nil {
		e.failure = refusedMemory(e.inMemory)
	}
	if e.failure != nil { // supervision has resumed the actor, but it cannot continue
		return outcome{err: e.failure}
	}
	defer e.goOn()
	defer e.idleness.busy()
	cmd := command{msg: msg, ctx: ctx, metadata: m}
	if e.commands.any() || !e.ready() {
		e.commands.put(cmd)
	} else if o := e.run(cmd); !o.goesOn() {
		return o
	}
	return e.work()
}

// ready reports whether the actor may run a command. It may not while it pauses, or once it is told
// to stop.
func (e *entity) ready() bool { return e.ctx.Err() == nil && !e.pausing.busy() }

func (e *entity) work() outcome {
	for e.commands.any() && e.ready() {
		cmd := e.commands.next()
		if !cmd.takes() {
			e.deadLetter(cmd.msg, actor.ErrWithdrawn)
		} else if o := e.run(cmd); !o.goesOn() {
			return o
		}
	}
	return outcome{}
}

// awake handles signals from the background, commands in turn, and idleness.
func (e *entity) awake() outcome {
	if e.failure != nil {
		return outcome{}
	}
	defer e.goOn()
	for sig, ok := e.news.take(); ok; sig, ok = e.news.take() {
		if o, handled := e.tell(sig); handled && !o.goesOn() {
			return o
		}
	}
	if o := fire(e); !o.goesOn() {
		return o
	}
	if e.commands.any() || e.pausing.busy() {
		e.idleness.later()
		return e.work()
	}
	return e.rest()
}

// goOn wakes the actor if there is work left, for example after supervision has resumed it.
func (e *entity) goOn() {
	if e.failure == nil && e.ready() && (e.commands.any() || e.news.any()) {
		e.wake()
	}
}

func (e *entity) setState(seq uint64) {
	e.seq = seq
	if e.seen != nil {
		e.seen.Changed(e.id, e.user.value(e.at))
	}
}

// run handles cmd and executes its effect, or begins to: then the actor pauses.
func (e *entity) run(cmd command) outcome {
	if cmd.timer != nil && !e.timers.current(cmd.timer) {
		return outcome{}
	}
	plan := handle(e, cmd)
	if plan.unhandled {
		e.ctx.System().Publish(actor.UnhandledMessage{Recipient: e.self.Path(), Message: cmd.msg})
	}
	return perform(e, cmd, plan)
}

// perform executes the plan of cmd, or begins to: then the actor pauses.
func perform(e *entity, cmd command, plan *plan) outcome {
	if !plan.writes() {
		return e.finish(plan, cmd, e.follow(plan))
	}
	b, err := e.batch(plan)
	traced := trace(e, cmd.ctx, &b.req)
	if err == nil && e.pausing.store(b.req) {
		e.pending = pending{cmd, plan, b, traced}
		return outcome{}
	}
	if err == nil {
		e.pending.cmd = cmd
		err = e.write(b.req, failedAttempt{})
		e.pending.cmd = command{}
	}
	traced.end(err)
	return e.finish(plan, cmd, e.stored(plan, b, err))
}

// finish stashes cmd, whose effect has been executed with outcome o, if that says so. It returns o.
// The message of a timer comes again if its effect was not stored, or the stash has no room for it.
// An ask whose effect was not stored ends with the reason, and not with the end of the actor,
// unless the behavior sees to it.
func (e *entity) finish(plan *plan, cmd command, o outcome) outcome {
	full := plan.stash && o.err == nil && !e.commands.stash(cmd, e.StashCapacity)
	switch {
	case cmd.timer != nil && (full || o.err != nil):
		retry(e, cmd.timer)
	case full:
		e.deadLetter(cmd.msg, actor.ErrStashFull)
	case o.err != nil && !e.excused:
		extension.Refuse(e.ctx.System(), cmd.msg, o.err)
	}
	return o
}

func (e *entity) execute(plan *plan) outcome {
	if !plan.writes() {
		return e.follow(plan)
	}
	b, err := e.batch(plan)
	if err == nil {
		err = e.write(b.req, failedAttempt{})
	}
	return e.stored(plan, b, err)
}

// follow runs the chained actions of plan, whose events are durable.
func (e *entity) follow(plan *plan) outcome {
	for _, a := range plan.then {
		a.run()
	}
	e.commands.unstash(plan.unstash)
	return outcome{stop: plan.stop}
}

// end waits for background work. Stashed commands become dead letters, unless the actor restarts
// after a failure of the journal: then they go back to the mailbox. Those of an entity go back to
// its shard.
func (e *entity) end(mailbox mailbox) {
	defer e.tasks.Wait()
	e.pausing.end()
	e.idleness.end()
	endTimers(e)
	left := e.commands.all()
	if e.failure == nil && mailbox.putBack(left) {
		return
	}
	leave := func(cmd command) { mailbox.tell(cmd) }
	switch {
	case e.ctx.Err() != nil:
		leave = func(cmd command) { e.deadLetter(cmd.msg, actor.ErrTerminated) }
	case e.failure == nil:
		reason := fmt.Errorf("%w: the actor was restarted while the command was stashed", actor.ErrDropped)
		leave = func(cmd command) { e.deadLetter(cmd.msg, reason) }
	}
	for _, cmd := range left {
		leave(cmd)
	}
}

func (e *entity) deadLetter(cmd any, reason error) {
	extension.DeadLetter(e.ctx.System(), e.self.String(), cmd, reason)
}
