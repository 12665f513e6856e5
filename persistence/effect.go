package persistence

import (
	"math"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/payload"
	"github.com/understudy-go/understudy/persistence/journal"
)

// An Effect is the result of a command: events to store, and actions that run once they are
// durable. [Persist], [Reply] and [Unstash] return one. [None], [Unhandled], [Stop], [Stash] and
// [UnstashAll] are effects themselves: return them without calling them, and their type argument
// is inferred:
//
//	return persistence.None
//
// A nil Effect does the same as None.
type Effect[E any] func(*Plan[E])

// A Plan collects the requests of an [Effect]. Programs do not use it; it is exported so that
// effects can be plain functions.
type Plan[E any] struct{ plan plan }

// A plan is what a [Plan] has collected. The types of the events do not matter to it.
type plan struct {
	events    []any
	timers    []timerRequest
	attempts  []journal.TimerChange // changes of timers that fire or have fired; made before the others
	then      []action
	once      *once // nil without a key
	unhandled bool
	stash     bool
	stop      bool
	unstash   int // how many commands
}

// An action is chained to an effect.
type action interface{ run() }

type doing func()

func (f doing) run() { f() }

// A replying is the reply of an effect. What it does depends on how it is called:
//
//	sendReply{}    sends the reply
//	askReply{}     returns the reply
//	canSend{v}     returns whether v has the type of the reply
//	anything else  is sent in place of the reply
type replying func(how any) (reply any, ok bool)

func (f replying) run() { f(sendReply{}) }

type (
	sendReply struct{}
	askReply  struct{}
	canSend   struct{ reply any }
)

func (p *plan) writes() bool { return len(p.events)+len(p.timers)+len(p.attempts) > 0 }

func planOf[E any](e Effect[E]) *plan {
	p := new(Plan[E])
	if e != nil {
		e(p)
	}
	return &p.plan
}

// Persist stores events in order, all or none. Without events, the chained actions run at once.
//
// If E is an interface, name it: Persist[Event](Deposited{}).
func Persist[E any](events ...E) Effect[E] {
	all := make([]any, len(events))
	for i, event := range events {
		all[i] = event
	}
	return func(p *Plan[E]) { p.plan.events = all }
}

// None does nothing.
func None[E any](*Plan[E]) {}

// Unhandled publishes the command as [actor.UnhandledMessage].
func Unhandled[E any](p *Plan[E]) { p.plan.unhandled = true }

// Stop ends the actor.
func Stop[E any](p *Plan[E]) { p.plan.stop = true }

// Reply sends reply to ref and stores nothing. The type of events must be named:
// Reply[Event](msg.ReplyTo, balance).
func Reply[E, R any](ref actor.ActorRef[R], reply R) Effect[E] {
	return ThenReply(Effect[E](nil), ref, reply)
}

// Stash puts the command aside until it is unstashed. If [Options.StashCapacity] commands are
// stashed already, it becomes a dead letter with [actor.ErrStashFull]. An unstash that is chained
// to Stash affects the other stashed commands, not this one.
func Stash[E any](p *Plan[E]) { p.plan.stash = true }

// UnstashAll handles the stashed commands next, in order, before the commands in the mailbox.
// Commands that are stashed again wait for the next unstash.
func UnstashAll[E any](p *Plan[E]) { p.plan.unstashAll() }

// Unstash handles the first n stashed commands next; see [UnstashAll]. The type of events must be
// named: Unstash[Event](1).
func Unstash[E any](n int) Effect[E] { return Effect[E](nil).ThenUnstash(n) }

// Then chains the action f to e: f runs once the events are durable. Chained actions run inside
// the actor, in order, at most once, and never in a replay. f may use everything that the command
// handler may use. If f panics, the actor fails; its events are stored.
func (e Effect[E]) Then(f func()) Effect[E] {
	return chain(e, then(doing(f)))
}

// ThenStop ends the actor once the events are durable and all chained actions have run.
func (e Effect[E]) ThenStop() Effect[E] {
	return chain(e, (*plan).end)
}

// ThenUnstashAll unstashes all commands once the events are durable and all chained actions have
// run; see [UnstashAll].
func (e Effect[E]) ThenUnstashAll() Effect[E] {
	return chain(e, (*plan).unstashAll)
}

// ThenUnstash unstashes n commands once the events are durable and all chained actions have run. If
// a chain has several, their numbers add up.
func (e Effect[E]) ThenUnstash(n int) Effect[E] {
	return chain(e, unstash(n))
}

// ThenReply sends reply to ref once the events of e are durable, see [Effect.Then]. It is a
// function because methods cannot have type parameters.
func ThenReply[E, R any](e Effect[E], ref actor.ActorRef[R], reply R) Effect[E] {
	return chain(e, then(replying(func(how any) (_ any, ok bool) {
		switch how := how.(type) {
		case sendReply:
			ref.Tell(reply)
		case askReply:
			return reply, true
		case canSend:
			_, ok = payload.As[R](how.reply)
		default:
			other, _ := payload.As[R](how)
			ref.Tell(other)
		}
		return nil, ok
	})))
}

// chain returns an effect that does what e does, and then more.
//
//go:noinline // each method of Effect would have a closure of its own, for each type of events
func chain[E any](e Effect[E], more func(*plan)) Effect[E] {
	return func(p *Plan[E]) {
		if e != nil {
			e(p)
		}
		more(&p.plan)
	}
}

//go:noinline // like chain
func then(a action) func(*plan) {
	return func(p *plan) { p.then = append(p.then, a) }
}

//go:noinline // like chain
func unstash(n int) func(*plan) {
	return func(p *plan) { p.unstashMore(n) }
}

func (p *plan) unstashMore(n int) {
	if room := math.MaxInt - p.unstash; n > 0 {
		p.unstash += min(n, room)
	}
}

func (p *plan) unstashAll() { p.unstash = math.MaxInt }

func (p *plan) end() { p.stop = true }
