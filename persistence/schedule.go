package persistence

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Timer identifies one delivery of a message that [Schedule] has stored. Key and Due are the same
// in all attempts, so that together they tell a repetition from another timer.
type Timer struct {
	Key     string
	Due     time.Time // when the message was to come, in UTC
	Attempt int       // 1 for the first delivery
}

// Schedule stores a timer: once at has passed, the actor gets msg as a command. The journal must
// keep timers, see [journal.TimerStore]; those in memory, of SQLite and of PostgreSQL do. The type
// of events must be named: Schedule[Event]("expire", at, Expire{}).
//
// A key has one timer; another one replaces it. It goes by the journal's clock: of the
// database server, or of the host if the journal has no clock of its own. A time in the past, such
// as the zero time, is due at once; one after the year 2261 is due at its end.
//
// The timer outlives restarts, failover and a stop of the whole cluster. An actor that runs gets
// its messages; one that does not run gets them once it runs again. Entities can be woken for them,
// see sharding.WithTimers. [TimerOf] tells a handler which timer its message is of.
//
// The message comes at least once. The append of its effect also removes the timer, and an effect
// that stores nothing makes an append of its own. If the actor ends before that, or its handler
// fails, the message comes again as another attempt; a message that is stashed waits. A timer that
// has been cancelled or replaced delivers nothing any more, even if it was due already.
//
// The actor fails with a [RejectedError] if the journal keeps no timers, or if the actor is not an
// event-sourced one. It also does if msg is not one of its commands, or of a type that is not
// registered, and if key is empty or longer than 255 bytes.
func Schedule[E any](key string, at time.Time, msg any) Effect[E] {
	return Effect[E](nil).Schedule(key, at, msg)
}

// Cancel removes the timer with that key, if there is one. The type of events must be named:
// Cancel[Event]("expire").
func Cancel[E any](key string) Effect[E] { return Effect[E](nil).Cancel(key) }

// Schedule stores a timer in the same append as the events of e, see the function [Schedule].
func (e Effect[E]) Schedule(key string, at time.Time, msg any) Effect[E] {
	return chain(e, request(timerRequest{key: key, at: at, msg: msg}))
}

// Cancel removes a timer in the same append as the events of e, see the function [Cancel].
func (e Effect[E]) Cancel(key string) Effect[E] {
	return chain(e, request(timerRequest{key: key, cancel: true}))
}

type timerRequest struct {
	key    string
	cancel bool
	at     time.Time
	msg    any
}

//go:noinline // like chain
func request(r timerRequest) func(*plan) {
	return func(p *plan) { p.timers = append(p.timers, r) }
}

// TimerOf returns the timer because of which a command handler has been called with its present
// message, and false for a message that somebody has sent. ctx is the Context of that handler.
func TimerOf[M any](ctx *actor.Context[M]) (t Timer, ok bool) {
	fired, ok := firedOf(ctx.System()).Load(ctx)
	if !ok {
		return Timer{}, false
	}
	return fired.(Timer), true
}

func noTimers(j Journal) error {
	if _, durable := j.(*stateJournal); durable {
		return fmt.Errorf("%w: an actor with a durable state has no stored timers; make it event-sourced", ErrInvalid)
	}
	return fmt.Errorf("%w: %s keeps no timers; take persistence/sqlite or persistence/postgres", ErrInvalid, storeName(j))
}

// The errors of changesOf are rejections.
func changesOf(e *entity, requests []timerRequest) ([]journal.TimerChange, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	if e.timerStore == nil {
		return nil, noTimers(e.journal)
	}
	changes := make([]journal.TimerChange, len(requests))
	for i, r := range requests {
		changes[i] = journal.TimerChange{Timer: journal.Timer{Key: r.key}, Remove: r.cancel}
		if r.cancel {
			continue
		}
		if !fits(r.msg, e.user.types().command) {
			return nil, fmt.Errorf("%w: the message of timer %q is a %T, which is no command of the actor", ErrInvalid, r.key, r.msg)
		}
		p, err := e.pack(r.msg)
		if err != nil {
			return nil, fmt.Errorf("%w: the message of timer %q: %w", ErrInvalid, r.key, err)
		}
		changes[i].Due, changes[i].Type, changes[i].Payload = storable(r.at), p.Type, p.Data
	}
	return changes, nil
}

// The first and the last time that journals can store.
var (
	firstDue = time.Date(1678, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDue  = time.Date(2261, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// storable returns the time that is next to at among those that journals can store.
func storable(at time.Time) time.Time {
	switch {
	case at.Before(firstDue):
		return firstDue
	case at.After(lastDue):
		return lastDue
	}
	return at.Round(0).UTC()
}
