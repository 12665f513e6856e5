package actor

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/payload"
)

// AskToSelf asks another actor from inside an actor without blocking. The actor handles other
// messages meanwhile. wrap converts the reply, or the error, into a message of the actor, which is
// handled in its place among the other messages. [Ask] lists the errors; after timeout the error
// wraps [context.DeadlineExceeded]. With a timeout of zero or less the ask never times out, and a
// wait of 30 seconds is logged. wrap runs inside the actor. A panic in wrap or request is a failure
// of the actor.
//
// An ask ends with the incarnation of the actor: a reply that arrives after a restart, or after the
// end of the actor, is a dead letter, and a request that is still buffered is withdrawn. An ask
// uses no goroutine. It is remembered until the reply, the timeout, or the end of the asked actor.
func AskToSelf[M, Q, R any](ctx *Context[M], to ActorRef[Q], timeout time.Duration, request func(replyTo ActorRef[R]) Q, wrap func(R, error) M) {
	c := ctx.cell
	c.core.check("AskToSelf")
	a := &selfAsk[M, R]{by: c, epoch: c.epoch, wrap: wrap, started: time.Now(), then: ctx.consequence()}
	a.core = core{sys: c.core.sys, uid: c.core.sys.nextUID(), impl: a, outside: true}
	if to.c == nil || to.c.sys == nil {
		a.settle(fmt.Errorf("ask: %w", ErrNoRef))
		return
	}
	a.asked = to.c
	msg := request(ActorRef[R]{&a.core})
	var asking metadata.Metadata
	asking, a.ended = beginAsk(ctx, to) // after what may panic
	c.own().asks.add(&a.pending, a)
	c.core.outermost().keeps(1)
	a.watch(timeout)
	lost := func(reason error) { a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), reason)) }
	if why := a.asked.unreachable(); why != nil {
		c.core.sys.reportDeadLetter(a.asked.fullPath(), msg, why)
		lost(why)
		return
	}
	if full := to.tellBy(msg, entrance{parked: true, asks: true, lost: lost, metadata: asking}); full != nil {
		lost(full)
	}
}

// A selfAsk is the ref to reply to. It has one outcome: the first reply, the end of the asked
// actor, or the timeout.
type selfAsk[M, R any] struct {
	core    core // dead once it has an outcome
	by      *cell[M]
	asked   *core
	epoch   uint32 // the incarnation that asked
	wrap    func(R, error) M
	started time.Time
	timer   *time.Timer       // guarded by core.mu
	late    error             // why replies are dead letters, once it is dead; guarded by core.mu
	then    metadata.Metadata // of the outcome
	ended   func(error)       // ends the span; nil without one
	pending pendingAsk
	watched askWatch    // of the asked actor
	passed  followed    // the actor that has got the request from it
	shared  atomic.Bool // see asker
	custody
}

func (a *selfAsk[M, R]) watch(timeout time.Duration) {
	if !a.watched.begin(a.asked, a) {
		a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), ErrTerminated))
		return
	}
	a.core.mu.Lock()
	defer a.core.mu.Unlock()
	switch {
	case a.core.dead: // the asked actor has ended
	case timeout > 0:
		a.timer = time.AfterFunc(timeout, a.expire)
	default:
		a.timer = time.AfterFunc(longAsk, func() { a.core.sys.warnOfLongAsk(a.asked) })
	}
}

func (a *selfAsk[M, R]) expire() {
	if a.claim(ErrLateReply) {
		var none R
		a.end(none, a.asked.silenceError(time.Since(a.started), context.DeadlineExceeded, a.giveUp()))
	}
}

func (*selfAsk[M, R]) messageType() reflect.Type { return reflect.TypeFor[R]() }

func (a *selfAsk[M, R]) number() uint64 { return a.core.uid }

func (a *selfAsk[M, R]) watchedEnded(target *core, err error) {
	a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), endedBefore(target.endOfAsk(err))))
}

func (a *selfAsk[M, R]) refuse(why error) {
	if !a.shared.Load() {
		a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), why))
	}
}

func (a *selfAsk[M, R]) share() { a.shared.Store(true) }

func (a *selfAsk[M, R]) follow(to *core) {
	if !a.shared.Load() {
		a.passed.follow(to, a, a.over)
	}
}

func (a *selfAsk[M, R]) over() bool {
	a.core.mu.Lock()
	defer a.core.mu.Unlock()
	return a.core.dead
}

func (a *selfAsk[M, R]) asker() asker { return a }

func (a *selfAsk[M, R]) settle(err error) {
	var none R
	if a.claim(ErrLateReply) {
		a.end(none, err)
	}
}

// claim reports whether the caller determines the outcome. late is the reason for which replies are
// dead letters from then on.
func (a *selfAsk[M, R]) claim(late error) bool {
	a.core.mu.Lock()
	defer a.core.mu.Unlock()
	first := !a.core.dead
	if first {
		a.core.dead, a.late = true, late
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	return first
}

// end sends the outcome to the actor.
func (a *selfAsk[M, R]) end(reply R, err error) {
	a.watched.end()
	a.passed.end()
	a.core.tellWatchers()
	a.count(err)
	a.endSpan(err)
	a.by.post(item[M]{task: &outcomeOfAsk[M, R]{a, reply, err}}, entrance{metadata: a.then})
}

func (a *selfAsk[M, R]) deliver(msg any, _ entrance) {
	reply, ok := payload.As[R](msg)
	switch {
	case !ok:
		a.core.sys.deadLetter(&a.core, msg, wrongType[R](msg))
	case a.claim(ErrLateReply):
		a.end(reply, nil)
	default:
		a.core.mu.Lock()
		late := a.late
		a.core.mu.Unlock()
		a.deadLetter(reply, late)
	}
}

// abandon ends the ask because its incarnation ends; replies are dead letters with reason. A
// buffered request is withdrawn.
func (a *selfAsk[M, R]) abandon(reason error) {
	if !a.claim(reason) {
		return // the outcome is in the mailbox
	}
	a.by.core.outermost().keeps(-1)
	a.giveUp()
	a.watched.end()
	a.passed.end()
	a.core.tellWatchers()
	a.count(ErrStaleHandler)
	a.endSpan(reason)
}

func (a *selfAsk[M, R]) count(err error) {
	if a.asked != nil {
		a.core.sys.asks.count(a.asked.uid, err)
	}
}

func (a *selfAsk[M, R]) endSpan(err error) {
	if a.ended != nil {
		a.ended(err)
	}
}

func (a *selfAsk[M, R]) deadLetter(reply R, reason error) {
	a.core.sys.reportDeadLetter("reply to the ask of "+a.asked.fullPath(), reply, reason)
}

type outcomeOfAsk[M, R any] struct {
	ask   *selfAsk[M, R]
	reply R
	err   error
}

func (o *outcomeOfAsk[M, R]) run(c *cell[M]) {
	o.ask.pending.remove()
	c.core.outermost().keeps(-1)
	switch {
	case o.ask.epoch == c.epoch:
		c.handleTaskMessage(o.ask.wrap(o.reply, o.err))
	case o.err == nil:
		o.ask.deadLetter(o.reply, ErrStaleHandler)
	}
}

func (o *outcomeOfAsk[M, R]) exempt() bool { return true }

func (o *outcomeOfAsk[M, R]) undelivered() (any, bool) { return o.reply, o.err == nil }
