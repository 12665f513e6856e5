package persistence

import (
	"math"

	"github.com/understudy-go/understudy/actor"
)

// An Effect is what a command leads to: events to store, and what to do once they are
// durable. [Persist], [Reply] and [Unstash] make one; [None], [Unhandled], [Stop], [Stash]
// and [UnstashAll] are returned as they are, without calling them, and their type argument
// is inferred:
//
//	return persistence.None
//
// The nil Effect is None.
type Effect[E any] func(*Plan[E])

// A Plan is what an [Effect] fills in. It has nothing for users; it is exported so that
// effects can be plain functions.
type Plan[E any] struct {
	events    []E
	then      []func()
	unhandled bool
	stash     bool
	unstash   int // how many
	stop      bool
}

func planOf[E any](e Effect[E]) *Plan[E] {
	p := new(Plan[E])
	if e != nil {
		e(p)
	}
	return p
}

// Persist stores events, all of them or none, in order. Without events there is nothing
// to wait for, and what is chained to it is done at once.
//
// Where E is an interface, it must be named: Persist[Event](Deposited{}).
func Persist[E any](events ...E) Effect[E] {
	return func(p *Plan[E]) { p.events = events }
}

// None does nothing.
func None[E any](*Plan[E]) {}

// Unhandled publishes the command as [actor.UnhandledMessage].
func Unhandled[E any](p *Plan[E]) { p.unhandled = true }

// Stop ends the actor.
func Stop[E any](p *Plan[E]) { p.stop = true }

// Reply tells ref reply, and stores nothing. E, the type of events, must be named:
// Reply[Event](msg.ReplyTo, balance).
func Reply[E, R any](ref actor.ActorRef[R], reply R) Effect[E] {
	return ThenReply(Effect[E](nil), ref, reply)
}

// Stash puts the command aside until it is unstashed. It counts towards [StashCapacity];
// one that has no room is a dead letter with [actor.ErrStashFull]. What is chained to
// Stash unstashes the others, not the command itself.
func Stash[E any](p *Plan[E]) { p.stash = true }

// UnstashAll runs the commands that were put aside by [Stash], in their order and before
// all that wait. What they put aside anew waits for the next time.
func UnstashAll[E any](p *Plan[E]) { p.unstash = math.MaxInt }

// Unstash is [UnstashAll] for the first n of them. E must be named: Unstash[Event](1).
func Unstash[E any](n int) Effect[E] { return Effect[E](nil).ThenUnstash(n) }

// Then adds f to what is done once the events are durable. What is chained runs inside
// the actor, in order, at most once, and never on replay. f may use what the command
// handler may use; a panic in it is a failure of the actor, whose events are stored.
func (e Effect[E]) Then(f func()) Effect[E] {
	return e.and(func(p *Plan[E]) { p.then = append(p.then, f) })
}

// ThenStop ends the actor once the events are durable and all that is chained is done.
func (e Effect[E]) ThenStop() Effect[E] {
	return e.and(func(p *Plan[E]) { p.stop = true })
}

// ThenUnstashAll is [UnstashAll] once the events are durable and all that is chained is
// done.
func (e Effect[E]) ThenUnstashAll() Effect[E] {
	return e.and(UnstashAll[E])
}

// ThenUnstash is [Unstash] once the events are durable and all that is chained is done.
// What several of a chain unstash adds up.
func (e Effect[E]) ThenUnstash(n int) Effect[E] {
	return e.and(func(p *Plan[E]) {
		if room := math.MaxInt - p.unstash; n > 0 {
			p.unstash += min(n, room)
		}
	})
}

// ThenReply tells ref reply once the events of e are durable; see [Effect.Then]. It is a
// function because a method cannot have a type parameter of its own.
func ThenReply[E, R any](e Effect[E], ref actor.ActorRef[R], reply R) Effect[E] {
	return e.Then(func() { ref.Tell(reply) })
}

func (e Effect[E]) and(more func(*Plan[E])) Effect[E] {
	return func(p *Plan[E]) {
		if e != nil {
			e(p)
		}
		more(p)
	}
}
