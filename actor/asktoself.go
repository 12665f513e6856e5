package actor

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
)

// AskToSelf asks another actor from inside an actor without blocking. The actor handles other
// messages meanwhile. wrap converts the reply, or the error, into a message of the actor, which is
// handled in its place among the other messages. [Ask] lists the errors; after timeout the error
// wraps [context.DeadlineExceeded]. With a timeout of zero or less it ends with the ask whose
// request the actor is handling; without such an end it never times out, and a wait of 30 seconds
// is logged. wrap runs inside the actor. A panic in wrap or request is a failure of the actor.
//
// An ask ends with the incarnation of the actor: a reply that arrives after a restart, or after the
// end of the actor, is a dead letter, and a request that is still buffered is withdrawn. An ask
// uses no goroutine. It is remembered until the reply, the timeout, or the end of the asked actor.
func AskToSelf[M, Q, R any](ctx *Context[M], to ActorRef[Q], timeout time.Duration, request func(replyTo ActorRef[R]) Q, wrap func(R, error) M) {
	a := ctx.in.newAsk(reflect.TypeFor[R](), wrongType[R], func(c *cell, reply any, err error) {
		r, _ := reply.(R) // a nil is the zero value
		handleTask(c, wrap(r, err))
	})
	if to.c == nil || to.c.sys == nil {
		a.settle(fmt.Errorf("ask: %w", ErrNoRef))
		return
	}
	a.asked = to.c
	if left, ok := leftOf(ctx.in.cell); ok && timeout <= 0 {
		timeout = max(left, 1) // which is over at once
	}
	msg := request(ActorRef[R]{&a.core})
	var asking metadata.Metadata
	if traces(a.asked) {
		var none Q
		asking, a.ended = beginAsk(ctx, a.asked, none) // after what may panic
	}
	a.begin(timeout)
	if why := a.asked.unreachable(); why != nil {
		a.core.sys.reportDeadLetter(a.asked.fullPath(), msg, why)
		a.lost(why)
		return
	}
	if full := tellBy(to.c, msg, entrance{parked: true, asks: true, lost: a.lost, metadata: asking.WithRequest(&a.request)}); full != nil {
		a.lost(full)
	}
}

func (x *inside) newAsk(replies reflect.Type, accept func(msg any) error, handle func(c *cell, reply any, err error)) *selfAsk {
	c := x.cell
	c.core.check("AskToSelf")
	a := &selfAsk{by: c, epoch: c.epoch, replies: replies, accept: accept, handle: handle, started: time.Now(), then: x.consequence()}
	a.core = core{sys: c.core.sys, uid: c.core.sys.nextUID(), impl: a, outside: true}
	return a
}

func (a *selfAsk) begin(timeout time.Duration) {
	a.by.own().asks.add(&a.pending, a)
	a.by.core.outermost().keeps(1)
	if timeout > 0 {
		a.request.Within(timeout)
		a.request.Begun(metadata.At(a.started))
	}
	a.watch(timeout)
}

func (a *selfAsk) lost(reason error) { a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), reason)) }

// A selfAsk is the ref to reply to. Its one outcome is the first reply, the end of the asked actor,
// or the timeout.
type selfAsk struct {
	core    core // dead once it has an outcome
	by      *cell
	asked   *core
	epoch   uint32 // the incarnation that asked
	replies reflect.Type
	accept  func(msg any) error
	handle  func(c *cell, reply any, err error)
	started time.Time
	timer   *time.Timer       // guarded by core.mu
	late    error             // why replies are dead letters, once it is dead; guarded by core.mu
	then    metadata.Metadata // of the outcome
	ended   func(error)       // ends the span; nil without one
	pending linked[selfAsk]
	watched askWatch // of the asked actor
	passed  followed // as in ask
	request metadata.Request
}

func (a *selfAsk) watch(timeout time.Duration) {
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

func (a *selfAsk) expire() {
	if a.claim(ErrLateReply) {
		a.end(nil, a.asked.silenceError(time.Since(a.started), context.DeadlineExceeded, a.core.cause(), &a.request))
	}
}

func (a *selfAsk) messageType() reflect.Type { return a.replies }

func (a *selfAsk) number() uint64 { return a.core.uid }

func (a *selfAsk) watchedEnded(target *core, err error) {
	a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), endedBefore(target.endOfAsk(err))))
}

func (a *selfAsk) refuse(why error) {
	if !a.request.Shared() && !endsItself(&a.request, why) {
		a.settle(fmt.Errorf("ask %s: %w", a.asked.fullPath(), why))
	}
}

func (a *selfAsk) share() { a.request.Share() }

func (a *selfAsk) askedBy() *core { return &a.by.core }

func (a *selfAsk) waits(why error) { waitsBy(&a.core.guarded, why) }

func (a *selfAsk) follow(to *core, again sendsAgain) {
	if !a.request.Shared() {
		a.passed.follow(to, a, a.over, again)
	}
}

func (a *selfAsk) again(recipient string) bool {
	return !a.request.Shared() && a.passed.again(recipient)
}

func (a *selfAsk) over() bool {
	a.core.mu.Lock()
	defer a.core.mu.Unlock()
	return a.core.dead
}

func (a *selfAsk) asker() asker { return a }

func (a *selfAsk) settle(err error) {
	if a.claim(ErrLateReply) {
		a.request.GiveUp()
		a.end(nil, err)
	}
}

// late is the reason for which replies are dead letters from then on.
func (a *selfAsk) claim(late error) bool {
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

func (a *selfAsk) end(reply any, err error) {
	a.watched.end()
	a.passed.end()
	a.core.tellWatchers()
	a.count(err)
	a.endSpan(err)
	a.by.post(item{task: &outcomeOfAsk{a, reply, err}}, entrance{metadata: a.then})
}

func (a *selfAsk) deliver(msg any, _ entrance) {
	if err := a.accept(msg); err != nil {
		a.core.sys.deadLetter(&a.core, msg, err)
		return
	}
	if a.claim(ErrLateReply) {
		a.end(msg, nil)
		return
	}
	a.core.mu.Lock()
	late := a.late
	a.core.mu.Unlock()
	a.deadLetter(msg, late)
}

// Replies become dead letters with reason. A buffered request is withdrawn.
func (a *selfAsk) abandon(reason error) {
	if !a.claim(reason) {
		return // the outcome is in the mailbox
	}
	a.by.core.outermost().keeps(-1)
	a.request.GiveUp()
	a.watched.end()
	a.passed.end()
	a.core.tellWatchers()
	a.count(ErrStaleHandler)
	a.endSpan(reason)
}

func abandonAll(asks *linkedList[selfAsk], reason error) {
	for asks.first != nil {
		a := asks.first.value
		a.pending.remove()
		a.abandon(reason)
	}
}

func (a *selfAsk) count(err error) {
	if a.asked != nil {
		a.core.sys.asks.count(a.asked.uid, err)
	}
}

func (a *selfAsk) endSpan(err error) {
	if a.ended != nil {
		a.ended(err)
	}
}

func (a *selfAsk) deadLetter(reply any, reason error) {
	a.core.sys.reportDeadLetter("reply to the ask of "+a.asked.fullPath(), reply, reason)
}

type outcomeOfAsk struct {
	ask   *selfAsk
	reply any
	err   error
}

func (o *outcomeOfAsk) run(c *cell) {
	o.ask.pending.remove()
	c.core.outermost().keeps(-1)
	switch {
	case o.ask.epoch == c.epoch:
		o.ask.handle(c, o.reply, o.err)
	case o.err == nil:
		o.ask.deadLetter(o.reply, ErrStaleHandler)
	}
}

func (o *outcomeOfAsk) exempt() bool { return true }

func (o *outcomeOfAsk) undelivered() (any, bool) { return o.reply, o.err == nil }

// A goroutine that the handler has begun, with the same context, may wait for its actor.
func waitsForItself(asker, asked *core) bool {
	return asker != nil && asker == asked.actor() && inTurn()
}

// inTurn walks the stack, which costs about a microsecond.
func inTurn() bool {
	var pcs [64]uintptr
	for skip := 1; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			if f, more = frames.Next(); f.Function == nameOfWork() {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

var nameOfWork = sync.OnceValue(func() string {
	return runtime.FuncForPC(reflect.ValueOf((*scheduler).work).Pointer()).Name()
})
