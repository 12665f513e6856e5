package actor

import (
	"context"
	"fmt"
	"github.com/understudy-go/understudy/internal/payload"
	"sync/atomic"
	"time"
)

// AskToSelf is [Ask] from inside an actor, without waiting: other messages are handled
// meanwhile, and the actor is told what wrap makes of the reply, in its place among the
// messages. The error that wrap gets is as with [Ask]; after timeout it wraps
// [context.DeadlineExceeded]. Without a positive timeout there is none; that the ask waits is
// logged after 30 seconds then. wrap runs inside the actor; a panic in it, or in request, is a
// failure of the actor.
//
// An ask ends with the incarnation: a reply that comes after a restart or the end of the
// actor is a dead letter, and a request that is still held for a singleton is withdrawn. An ask
// costs no goroutine. Without a timeout it is remembered until then, or until the asked actor
// replies or ends.
func AskToSelf[M, Q, R any](ctx *Context[M], to ActorRef[Q], timeout time.Duration, request func(replyTo ActorRef[R]) Q, wrap func(R, error) M) {
	c := ctx.cell
	c.check("AskToSelf")
	a := &selfAsk[M, R]{by: c, epoch: c.epoch, wrap: wrap, started: time.Now()}
	a.core = core{sys: c.sys, uid: c.sys.nextUID(), impl: a, outside: true}
	if to.c == nil || to.c.sys == nil {
		a.settle(fmt.Errorf("ask: %w", ErrNoRef))
		return
	}
	a.asked = to.c
	msg := request(ActorRef[R]{&a.core})
	c.own().asks.add(&a.pending, a)
	a.watch(timeout)
	lost := func(reason error) { a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), reason)) }
	if why := a.asked.unreachable(); why != nil {
		c.sys.reportDeadLetter(a.asked.fullPath(), msg, why)
		lost(why)
		return
	}
	if full := to.offer(msg, entrance{parked: true, lost: lost}); full != nil {
		lost(full)
	}
}

// A selfAsk is the ref to reply to. It has one outcome, which ends it: the first reply, the
// end of the asked actor, or that of the time.
type selfAsk[M, R any] struct {
	core    // dead once it has an outcome
	by      *cell[M]
	asked   *core
	epoch   uint32 // in which it was asked
	wrap    func(R, error) M
	started time.Time
	timer   *time.Timer // guarded by core.mu
	late    error       // why it takes no replies, once it is dead; guarded by core.mu
	pending pendingAsk
	shared  atomic.Bool // see asker
	custody
}

func (a *selfAsk[M, R]) watch(timeout time.Duration) {
	a.mu.Lock()
	if timeout > 0 {
		a.timer = time.AfterFunc(timeout, a.expire)
	} else {
		a.timer = time.AfterFunc(longAsk, func() { a.sys.warnOfLongAsk(a.asked) })
	}
	a.mu.Unlock()
	if target := a.asked.actor(); !target.addWatcher(a) {
		a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), ErrTerminated))
	}
}

func (a *selfAsk[M, R]) expire() {
	if a.claim(ErrLateReply) {
		var none R
		a.end(none, a.asked.silenceError(time.Since(a.started), context.DeadlineExceeded, a.giveUp()))
	}
}

func (a *selfAsk[M, R]) watchedEnded(target *core, err error) {
	a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), endedBefore(target.endOfAsk(err))))
}

func (a *selfAsk[M, R]) refuse(why error) {
	if !a.shared.Load() {
		a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), why))
	}
}

func (a *selfAsk[M, R]) share() { a.shared.Store(true) }

func (a *selfAsk[M, R]) settle(err error) {
	var none R
	if a.claim(ErrLateReply) {
		a.end(none, err)
	}
}

// claim reports whether the caller decides on the outcome; late is why there will be no
// replies then.
func (a *selfAsk[M, R]) claim(late error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := !a.dead
	if first {
		a.dead, a.late = true, late
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	return first
}

// end tells the actor the outcome.
func (a *selfAsk[M, R]) end(reply R, err error) {
	if a.asked != nil {
		a.asked.actor().removeWatcher(a)
	}
	a.tellWatchers()
	a.by.post(item[M]{task: &outcomeOfAsk[M, R]{a, reply, err}}, entrance{})
}

func (a *selfAsk[M, R]) deliver(msg any, _ entrance) {
	reply, ok := payload.As[R](msg)
	switch {
	case !ok:
		a.sys.deadLetter(&a.core, msg, wrongType[R](msg))
	case a.claim(ErrLateReply):
		a.end(reply, nil)
	default:
		a.mu.Lock()
		late := a.late
		a.mu.Unlock()
		a.deadLetter(reply, late)
	}
}

// abandon ends it with the incarnation that has asked, for the reason given to replies. A
// request that is held is withdrawn.
func (a *selfAsk[M, R]) abandon(reason error) {
	if !a.claim(reason) {
		return // the outcome is on its way
	}
	a.giveUp()
	a.asked.actor().removeWatcher(a)
	a.tellWatchers()
}

func (a *selfAsk[M, R]) deadLetter(reply R, reason error) {
	a.sys.reportDeadLetter("reply to the ask of "+a.asked.fullPath(), reply, reason)
}

type outcomeOfAsk[M, R any] struct {
	ask   *selfAsk[M, R]
	reply R
	err   error
}

func (o *outcomeOfAsk[M, R]) run(c *cell[M]) {
	o.ask.pending.remove()
	switch {
	case o.ask.epoch == c.epoch:
		c.handleTaskMessage(o.ask.wrap(o.reply, o.err))
	case o.err == nil:
		o.ask.deadLetter(o.reply, ErrStaleHandler)
	}
}

func (o *outcomeOfAsk[M, R]) exempt() bool { return true }

func (o *outcomeOfAsk[M, R]) undelivered() (any, bool) { return o.reply, o.err == nil }
