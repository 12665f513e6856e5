package workflow

import (
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

// outage is how long a run waits for its journal with what it wants to store: longer than a
// database takes to restart. It bounds how long a call may hang, too. After that the run comes to
// memory anew, and is given the outcomes that could not be stored, see [kept].
const outage = 2 * time.Minute

type effect = persistence.Effect[event]

// A kind is what all runs of a type have in common on this node.
type kind struct {
	name      string
	host      Host
	f         function
	journal   persistence.Journal
	timers    bool                            // the journal keeps timers
	snapshots func(state, event, uint64) bool // nil if the journal keeps none
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
	deaf    bool      // what goroutines ask for counts no more
	writing []request // what is being stored
	asking  []asking
	looking []asking // until the replay is over
}

func (k *kind) behavior(e sharding.Entity) actor.Behavior[message] {
	return behaviors.Setup(func(ctx *actor.Context[message]) actor.Behavior[message] {
		in := &instance{kind: k, entity: e, system: ctx.System(), ctx: ctx}
		ctx.Defer(in.end)
		extension.Holds(ctx, in.unanswered())
		return behaviors.EventSourced(e.PersistenceID(), k.journal, state{}, apply, in.handle, persistence.Options[message, event, state]{
			OnSignal: in.signal, Tags: k.tags, SnapshotWhen: k.snapshots, PersistTimeout: outage,
		})
	})
}

// snapshotDue returns true for every 200th event, and later for eight events until their
// number has doubled. A snapshot is as large as the run is long, and so all of them together have
// no more than a multiple of the last one.
func snapshotDue(_ state, _ event, seq uint64) bool {
	every := uint64(200)
	for every*16 <= seq {
		every *= 2
	}
	return seq%every == 0
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
	in.writing = done
	return in.leaveIfIdle(in.timed(after, persistence.Persist(events...).Then(func() { in.stored(after, done) })))
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
	in.writing = nil
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

// end unwinds the goroutines of the incarnation.
func (in *instance) end() {
	if in.live != nil {
		in.live.close()
		in.all.remove(in)
		if !in.deaf {
			in.all.keep(in.live, append(in.writing, in.live.take()...))
		}
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
