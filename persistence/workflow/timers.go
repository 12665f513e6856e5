package workflow

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

// guardAfter is how long a run may be in memory before its guard is due: shorter than a failover
// takes, so that a run whose node has died is woken as soon as its shard has a home.
const guardAfter = 3 * time.Second

// moment is how long a run that rests stays in memory.
const moment = 5 * time.Second

// drainFor is how long an actor that leaves waits for steps that are executed: less than
// sharding.DefaultStopTimeout.
const drainFor = 8 * time.Second

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
	case s.End.State != "": // the parent is told until it has heard
		rests, until = true, in.alarm
		if left := time.Until(in.alarm); left <= 0 || left > guardAfter { // that was for a wait, and may be gone
			until = time.Now().Add(guardAfter)
		}
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

// protect sets the guard.
func (in *instance) protect(e effect) effect {
	if in.guarded {
		return e
	}
	in.guarded = true
	return in.set(e, timerGuard, time.Now().Add(guardAfter))
}
