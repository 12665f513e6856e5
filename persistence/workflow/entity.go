package workflow

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/workflowhook"
	"github.com/understudy-go/understudy/persistence"
)

// guardAfter is how long a run may be in memory before its guard is due: shorter than a failover
// takes, so that a run whose node has died is woken as soon as its shard has a home.
const guardAfter = 3 * time.Second

// moment is how long a run that rests stays in memory.
const moment = 5 * time.Second

// patience is how long an actor keeps a question for the result. Then it is asked again.
const patience = 10 * time.Second

// drainFor is how long an actor that leaves waits for steps that are executed: less than
// sharding.DefaultStopTimeout.
const drainFor = 8 * time.Second

// outage is how long a run waits for its journal with what it wants to store: longer than a
// database takes to restart. It bounds how long a call may hang, too. After that the run comes to
// memory anew, and repeats steps without an outcome.
const outage = 2 * time.Minute

type effect = persistence.Effect[event]

// A kind is what all runs of a type have in common on this node.
type kind struct {
	name      string
	host      Host
	f         function
	journal   persistence.Journal
	timers    bool // the journal keeps timers
	snapshots int  // events between two; 0 if the journal keeps none
	all       *registry
}

// An instance is one incarnation of the actor of a run. Only the actor uses it, except for live.
type instance struct {
	*kind
	entity  sharding.Entity
	system  *actor.System
	ctx     *actor.Context[message]
	live    *live
	guarded bool                  // the timer guard is set
	alarm   time.Time             // for which the timer wake is set; zero if it is not
	at      atomic.Pointer[state] // for those that look
	leaving bool
	deaf    bool // what goroutines ask for counts no more
	asking  []asking
	looking []actor.ActorRef[actor.Result[answer]] // until the replay is over
}

type asking struct {
	to    actor.ActorRef[actor.Result[answer]]
	until time.Time
}

func (k *kind) behavior(e sharding.Entity) actor.Behavior[message] {
	return behaviors.Setup(func(ctx *actor.Context[message]) actor.Behavior[message] {
		in := &instance{kind: k, entity: e, system: ctx.System(), ctx: ctx}
		ctx.Defer(in.end)
		return behaviors.EventSourced(e.PersistenceID(), k.journal, state{}, apply, in.handle, persistence.Options[message, event, state]{
			OnSignal: in.signal, Tags: k.tags, SnapshotEvery: k.snapshots, PersistTimeout: outage,
		})
	})
}

// tags lets runs be found by their type and tag. Events of steps have none: they would cost much.
func (k *kind) tags(s state, e event) []string {
	if !s.Freed && e.What != begun && e.What != ended && e.What != holding && e.What != turned && e.What != resumed {
		return nil
	}
	return []string{TagOf(k.name)}
}

func (in *instance) signal(_ *actor.Context[message], s state, sig persistence.Signal) effect {
	recovered, ok := sig.(persistence.RecoveryCompleted)
	if !ok {
		return persistence.Unhandled
	}
	// No message: those that come after leave go to the next home of the shard.
	notify := extension.TellLatest(in.ctx.Self(), func() (message, bool) { return work{}, true })
	in.live = newLive(address{Type: in.name, ID: in.entity.ID}, s, in.report, notify)
	in.live.epoch, in.live.span = recovered.Epoch, in.traced
	if in.timers {
		in.alarm = firstOf(s)
	}
	in.at.Store(&s)
	in.all.add(in)
	in.ctx.After(timerIdle, moment, tick{timerIdle})
	if s.Hold.Count > 0 && s.Hold.Until.After(time.Now()) {
		return in.rest(s, nil)
	}
	// No timer is changed: what has brought the run back stays in the journal until it is handled.
	in.launch(s)
	return persistence.None
}

// launch calls the function of a run that has begun and not ended.
func (in *instance) launch(s state) {
	if in.live.launched || in.leaving || s.Begun.IsZero() || s.End.State != "" {
		return
	}
	in.ctx.CancelTimer(timerIdle)
	replacement, _ := extension.Get[workflowhook.Replacement](in.system)
	in.live.launch(in.f, s, replacement)
}

// firstOf returns for when the timer wake of a resting run has been set.
func firstOf(s state) (at time.Time) {
	if s.Hold.Count > 0 {
		return s.Hold.Until
	}
	for _, t := range s.Tries {
		at = earlier(at, t.Next)
	}
	for _, w := range s.Waits {
		at = earlier(at, w.Until)
	}
	return at
}

// earlier returns the earlier time. A zero time counts for nothing.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// handle is the command handler.
func (in *instance) handle(ctx *actor.Context[message], s state, msg message) effect {
	in.ctx = ctx
	if !s.same(in.at.Load()) {
		in.at.Store(&s)
	}
	switch msg := msg.(type) {
	case work:
		return in.work(s)
	case tick:
		return in.tick(ctx, s, msg)
	case leave:
		return in.leave(s)
	case command:
		return in.command(s, msg)
	}
	return persistence.Unhandled
}

// work stores what the goroutines have asked for, in one append.
func (in *instance) work(s state) effect {
	var (
		events []event
		done   []request
		after  = s
	)
	for _, r := range in.live.take() {
		e, ok := in.decide(after, r.event)
		if !ok {
			if r.done != nil {
				r.done <- false
			}
			continue
		}
		e.Undo = in.live.registered()
		r.event = e
		after = apply(after, e)
		events, done = append(events, e), append(done, r)
	}
	if len(events) == 0 {
		in.looked(s, false)
		return in.leaveIfIdle(in.timed(s, nil))
	}
	return in.leaveIfIdle(in.timed(after, persistence.Persist(events...).Then(func() { in.stored(after, done) })))
}

// nextOf returns when the next attempt of a step is due. Its timer is stored together with the
// failure of the last one: its goroutine does not wait yet, and the process may die before it does.
func nextOf(s state) (next time.Time) {
	for _, t := range s.Tries {
		if t.Next.After(time.Now()) {
			next = earlier(next, t.Next)
		}
	}
	return next
}

// decide completes an event that a goroutine asks for. It refuses the end of a run that has turned
// meanwhile.
func (in *instance) decide(s state, e event) (event, bool) {
	switch {
	case in.deaf:
		return e, false
	case e.What == turned:
		return e, s.Turned.State == ""
	case e.What == ended && s.Turned.State != "":
		e.State, e.Value = s.Turned.State, s.Turned.Err
		return e, in.live.compensating()
	case e.What == holding:
		e.Attempt = s.Hold.Count + 1
		e.Until = e.At.Add(again.Delay(min(e.Attempt, 30) - 1))
	}
	return e, true
}

// again is how long a run is held before it is tried again.
var again = actor.Backoff{Min: time.Second, Max: 5 * time.Minute}

// stored follows the append of events.
func (in *instance) stored(s state, done []request) {
	in.at.Store(&s)
	for _, r := range done {
		switch r.event.What {
		case holding:
			in.leaving = true
			in.ctx.Log().Error("run held: it cannot go on with this program, and is tried again", zap.String("type", in.name), zap.String("id", in.entity.ID), zap.String("reason", r.event.Err), zap.Time("next", r.event.Until))
		case turned:
			in.live.turn(failureOf(r.event.Value), r.event.At)
		case ended:
			in.ended(s)
		default:
			in.live.note(r.event)
		}
		if r.done != nil {
			r.done <- true
		}
	}
	in.looked(s, false)
}

// timed adds to e the changes of timers that the run needs in state s: the guard while it is busy,
// and the first of its waits.
func (in *instance) timed(s state, e effect) effect {
	if s.Begun.IsZero() || s.End.State != "" && s.told() {
		return in.rest(s, e)
	}
	rests, until := in.live.next()
	until = earlier(until, nextOf(s))
	switch {
	case s.Hold.Count > 0 && (in.live.isLeaving() || !in.live.launched):
		rests, until = true, s.Hold.Until
	case s.End.State == "" && !in.live.launched: // it leaves; what shall bring it back is set
		return e
	case s.End.State != "" && in.alarm.IsZero(): // the parent is told until it has heard
		rests, until = true, time.Now().Add(guardAfter)
	case s.End.State != "":
		rests, until = true, in.alarm
	}
	if !until.Equal(in.alarm) {
		e, in.alarm = in.set(e, timerWake, until), until
	}
	if rests {
		return in.rest(s, e)
	}
	in.ctx.CancelTimer(timerIdle)
	return in.protect(e)
}

// rest lets a run leave memory after a moment, and removes timers that nobody needs. A stashed
// guard would come back to the shard as a message, and wake the run.
func (in *instance) rest(s state, e effect) effect {
	if in.guarded {
		e, in.guarded = in.set(e, timerGuard, time.Time{}), false
	}
	if s.End.State != "" && s.told() && !in.alarm.IsZero() {
		e, in.alarm = in.set(e, timerWake, time.Time{}), time.Time{}
	}
	in.ctx.After(timerIdle, moment, tick{timerIdle})
	return e.ThenUnstashAll()
}

// told reports whether nobody must be told of the end.
func (s state) told() bool { return s.Told || s.Parent == (address{}) }

// set sets a timer, or removes it if at is zero.
func (in *instance) set(e effect, key string, at time.Time) effect {
	switch {
	case !in.timers && at.IsZero():
		in.ctx.CancelTimer(key)
	case !in.timers:
		if key == timerWake {
			in.ctx.After(key, max(time.Until(at), 1), tick{key})
		}
	case at.IsZero():
		return e.Cancel(key)
	default:
		return e.Schedule(key, at, tick{key})
	}
	return e
}

// tick handles the message of a timer.
func (in *instance) tick(ctx *actor.Context[message], s state, t tick) effect {
	now := time.Now()
	switch t.Timer {
	case timerIdle:
		return in.idle(s, now)
	case timerLook:
		return in.looked(s, true)
	}
	if due, stored := persistence.TimerOf(ctx); stored {
		now = latest(now, due.Due) // the clock of the journal may be ahead of this one
	} else if in.timers {
		return persistence.None // it has come back to the shard as a message, and has brought the run back
	}
	if t.Timer == timerGuard {
		if rests, _ := in.live.next(); rests || s.End.State != "" {
			in.guarded = true // so that it is removed
			return in.rest(s, nil)
		}
		in.guarded = true
		return persistence.Stash
	}
	if in.leaving { // it goes back to the shard, for the next incarnation
		return persistence.Stash
	}
	in.alarm = time.Time{} // it is removed with what follows
	if s.End.State != "" {
		in.tellParent(s)
		return in.timed(s, nil)
	}
	in.live.wakeDue(now)
	in.launch(s)
	return in.timed(s, nil)
}

// idle lets a run leave memory that has rested for a moment, unless somebody waits for its result.
// Without stored timers it stays until its end.
func (in *instance) idle(s state, now time.Time) effect {
	in.asking = slices.DeleteFunc(in.asking, func(one asking) bool { return !one.until.Add(moment).After(now) })
	over := s.Begun.IsZero() || s.End.State != "" && s.told()
	if rests, _ := in.live.next(); len(in.asking) > 0 || !over && (!in.timers || in.live.launched && !rests) {
		in.ctx.After(timerIdle, moment, tick{timerIdle})
		return persistence.None
	}
	in.leaving = true
	in.live.leave()
	in.entity.Passivate()
	return persistence.None
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// leave ends the actor, and stores the outcomes of steps that return within some seconds. It waits
// for them, because no message of this incarnation comes after this one.
func (in *instance) leave(s state) effect {
	in.leaving = true
	in.live.drain(drainFor)
	for _, one := range in.asking {
		one.to.Tell(actor.Result[answer]{Err: errMoves})
	}
	return in.work(s).ThenStop()
}

func (in *instance) leaveIfIdle(e effect) effect {
	if !in.leaving && !in.live.isLeaving() {
		return e
	}
	in.leaving = true
	if !in.live.idle() {
		return e
	}
	return e.ThenStop()
}

// end unwinds the goroutines of the incarnation.
func (in *instance) end() {
	if in.live != nil {
		in.live.close()
		in.all.remove(in)
	}
}

// report says what the function no longer asks for.
func (in *instance) report(unasked []string) {
	changed := Changed{Type: in.name, ID: in.entity.ID, Unasked: unasked}
	in.system.Log().Warn("run continued by another program than before: it does not ask for outcomes that are stored",
		zap.String("type", in.name), zap.String("id", in.entity.ID), zap.Strings("unasked", unasked))
	in.system.Publish(changed)
}

// Changed is published on the event stream of the node when a run goes on that has outcomes for
// which its function did not ask, for example because a step has another name now.
type Changed struct {
	Type, ID string
	Unasked  []string // names of steps and awaits, sorted
}

// ended follows the end of the run.
func (in *instance) ended(s state) {
	for _, one := range in.asking {
		if one.until.After(time.Now()) {
			one.to.Tell(resultOf(s))
		}
	}
	in.asking = nil
	in.all.count(in.name, s.End.State)
	in.tellParent(s)
}

func resultOf(s state) actor.Result[answer] {
	return actor.Result[answer]{Value: answer{State: s.End.State, Out: s.End.Out}}
}

// command handles what comes from outside.
func (in *instance) command(s state, c command) effect {
	if s.Begun.IsZero() && c.Op != opRun {
		in.ctx.After(timerIdle, moment, tick{timerIdle})
		return in.notFound(c)
	}
	switch c.Op {
	case opRun:
		return in.run(s, c)
	case opResult:
		return in.ask(s, c)
	case opSignal:
		return in.signalled(s, c)
	case opTurn:
		return in.turned(s, c)
	case opResume:
		return in.resume(s, c)
	case opLook:
		in.looking = append(in.looking, c.ReplyTo)
		in.ctx.After(timerLook, time.Second, tick{timerLook})
		return in.looked(s, false)
	case opTold:
		if s.told() {
			return persistence.None
		}
		e := event{What: told, At: time.Now()}
		return in.rest(apply(s, e), persistence.Persist(e))
	}
	return refuse(c, fmt.Errorf("%w: this node does not know the operation %q; upgrade it", ErrInvalid, c.Op))
}

// looked tells what the run does, once it has replayed what is stored, or if that takes long.
func (in *instance) looked(s state, anyway bool) effect {
	if len(in.looking) == 0 || in.live.replays() && !anyway {
		return persistence.None
	}
	all := actor.Result[answer]{Value: answer{Status: in.status(s)}}
	for _, to := range in.looking {
		to.Tell(all)
	}
	in.looking = nil
	in.ctx.CancelTimer(timerLook)
	return persistence.None
}

// notFound refuses a command of a run that has not begun. The append, which has no events, fails if
// another process has taken the id over: the run may have begun there.
func (in *instance) notFound(c command) effect {
	fence := persistence.None[event]
	if in.timers {
		fence = effect(nil).Cancel(timerWake)
	}
	return persistence.ThenReply(fence, c.ReplyTo, actor.Result[answer]{Err: fmt.Errorf("%w: %s of type %s", ErrNotFound, in.entity.ID, in.name)})
}

func refuse(c command, err error) effect {
	return persistence.Reply[event](c.ReplyTo, actor.Result[answer]{Err: err})
}

func accept(e effect, c command, s state) effect {
	return persistence.ThenReply(e, c.ReplyTo, actor.Result[answer]{Value: answer{State: stateOf(s)}})
}

func (in *instance) run(s state, c command) effect {
	switch {
	case !s.Begun.IsZero() && c.Parent != (address{}) && c.Parent != s.Parent:
		return refuse(c, fmt.Errorf("%w: run %s of type %s exists, and is no child of %s of type %s", ErrInvalid, in.entity.ID, in.name, c.Parent.ID, c.Parent.Type))
	case !s.Begun.IsZero():
		return accept(nil, c, s)
	}
	e := event{What: begun, Value: c.Value, Tag: c.Tag, Parent: c.Parent, Trace: in.span(), At: time.Now()}
	after := apply(s, e)
	stored := in.protect(persistence.Persist(e)).Then(func() {
		in.all.count(in.name, Running)
		in.launch(after)
	})
	return accept(stored, c, after)
}

// ask answers with the result, or keeps the question until the run ends.
func (in *instance) ask(s state, c command) effect {
	if s.End.State != "" {
		return persistence.Reply[event](c.ReplyTo, resultOf(s))
	}
	now := time.Now()
	in.asking = slices.DeleteFunc(in.asking, func(one asking) bool { return !one.until.After(now) })
	in.asking = append(in.asking, asking{c.ReplyTo, now.Add(patience * 19 / 20)}) // the question is asked again at patience
	return persistence.None
}

func (in *instance) signalled(s state, c command) effect {
	if s.End.State != "" {
		if strings.HasPrefix(c.Name, childSignal) { // the parent was not waiting any more
			return accept(nil, c, s)
		}
		return refuse(c, fmt.Errorf("%w: %s of type %s", ErrEnded, in.entity.ID, in.name))
	}
	e := event{What: signalled, Signal: c.Name, Value: c.Value, At: time.Now()}
	after := apply(s, e)
	stored := persistence.Persist(e)
	if rests, _ := in.live.next(); !rests || in.live.awaits(c.Name) {
		stored = in.protect(stored)
	}
	number := after.Number
	stored = stored.Then(func() { in.live.deliver(signal{c.Name, number, c.Value}) })
	return persistence.Once(c.Key, accept(stored, c, after))
}

func (in *instance) turned(s state, c command) effect {
	switch {
	case s.End.State != "":
		return refuse(c, fmt.Errorf("%w: %s of type %s", ErrEnded, in.entity.ID, in.name))
	case s.Turned.State != "":
		return accept(nil, c, s)
	}
	why := ErrCancelled
	if c.State == Failed {
		why = ErrFailed
	}
	reason := fmt.Errorf("%w by %s: %s", why, said(c.By), said(c.Why))
	e := event{What: turned, State: c.State, Value: failure(reason), Undo: in.live.registered(), By: c.By, Why: c.Why, At: time.Now()}
	after := apply(s, e)
	return accept(in.protect(persistence.Persist(e)).Then(func() {
		in.live.turn(reason, e.At)
		in.launch(after)
	}), c, after)
}

// protect sets the guard.
func (in *instance) protect(e effect) effect {
	if in.guarded {
		return e
	}
	in.guarded = true
	return in.set(e, timerGuard, time.Now().Add(guardAfter))
}

func said(text string) string {
	if text == "" {
		return "not said"
	}
	return text
}

// resume stores that an operator lets the run go on. If outcomes are forgotten, another incarnation
// begins, because the goroutines of this one know them.
func (in *instance) resume(s state, c command) effect {
	if c.Name == "" && s.End.State != "" {
		return refuse(c, fmt.Errorf("%w: %s of type %s; name the step from which it shall go on", ErrEnded, in.entity.ID, in.name))
	}
	if c.Name != "" && !slices.ContainsFunc(s.Outcomes, func(o outcome) bool { return o.Name == c.Name }) {
		return refuse(c, fmt.Errorf("%w: run %s of type %s has no outcome of a step %q", ErrInvalid, in.entity.ID, in.name, c.Name))
	}
	e := event{What: resumed, Name: c.Name, By: c.By, Why: c.Why, At: time.Now()}
	after := apply(s, e)
	stored := persistence.Persist(e)
	if c.Name == "" && !in.leaving {
		return persistence.Once(c.Key, accept(in.protect(stored).Then(func() {
			in.live.retry()
			in.launch(after)
		}), c, after))
	}
	in.leaving, in.deaf = true, c.Name != ""
	in.live.leave()
	in.alarm = time.Now()
	stored = in.set(stored, timerWake, in.alarm)
	return persistence.Once(c.Key, accept(stored, c, after).ThenStop())
}
