package actor

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Ask tells the actor a request and waits for the reply: request builds the message
// around the ref to reply to. The first reply counts; later ones are dead letters with
// [ErrLateReply].
//
// Its error wraps [ErrTerminated] as soon as the actor is known to have ended without a
// reply (for actors of this system only), [ErrUnreachable] as soon as the node of the actor
// is known to have left its cluster, [ErrMailboxFull] at once when a mailbox that is
// Bounded with [Fail] or [Block] has no room for the request, or ctx.Err() when ctx ends, with the path and
// the time waited and, where a [Silence] knows it, the reason; or it is the panic of
// request, in which case nothing was told.
// Without a deadline in ctx it may wait for ever. Inside an actor it blocks that actor;
// prefer [AskToSelf].
func Ask[M, R any](ctx context.Context, to ActorRef[M], request func(replyTo ActorRef[R]) M) (R, error) {
	var none R
	if to.c == nil || to.c.sys == nil {
		return none, fmt.Errorf("ask: %w", ErrNoRef)
	}
	p := newPromise[R](to.c)
	defer p.end()
	msg, err := build(request, ActorRef[R]{&p.core})
	if err != nil {
		return none, fmt.Errorf("ask %s: request: %w", to.Path(), err)
	}
	target := to.c.actor()
	watched := target.addWatcher(p)
	defer target.removeWatcher(p)
	if full := to.offer(msg); full != nil { // it is a dead letter, as when the target has ended
		return none, fmt.Errorf("ask %s: %w", to.Path(), full)
	}
	if !watched {
		return none, fmt.Errorf("ask %s: %w", to.Path(), ErrTerminated)
	}
	return p.await(ctx)
}

func build[M, R any](request func(ActorRef[R]) M, replyTo ActorRef[R]) (msg M, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError(r)
		}
	}()
	return request(replyTo), nil
}

// A promise is the ref to reply to. It has one outcome: the first reply, the end of the
// target, or the end of the wait, whichever claims it first.
type promise[R any] struct {
	core    // dead once it has been claimed
	asked   *core
	outcome chan outcome[R] // of one: who claims, sends
}

type outcome[R any] struct {
	reply R
	ended error // of the target, without a reply
}

func newPromise[R any](asked *core) *promise[R] {
	s := asked.sys
	p := &promise[R]{asked: asked, outcome: make(chan outcome[R], 1)}
	p.sys, p.uid, p.impl, p.outside = s, s.nextUID(), p, true
	return p
}

func (p *promise[R]) await(ctx context.Context) (R, error) {
	started := time.Now()
	runtime.Gosched() // let the target run, which the request has made ready: it is faster than to wait
	select {
	case o := <-p.outcome:
		return p.result(o)
	default:
		willBlock(ctx)
	}
	select {
	case o := <-p.outcome:
		return p.result(o)
	case <-ctx.Done():
	}
	if !p.claim() { // an outcome is on its way
		return p.result(<-p.outcome)
	}
	var none R
	waited := time.Since(started)
	if why := p.asked.actor().silence(); why != nil {
		return none, fmt.Errorf("ask %s: no reply after %v: %w: %w", p.asked.fullPath(), waited, ctx.Err(), why)
	}
	return none, fmt.Errorf("ask %s: no reply after %v: %w", p.asked.fullPath(), waited, ctx.Err())
}

func (p *promise[R]) result(o outcome[R]) (R, error) {
	if o.ended != nil {
		return o.reply, fmt.Errorf("ask %s: %w before it replied", p.asked.fullPath(), o.ended)
	}
	return o.reply, nil
}

func (p *promise[R]) claim() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.dead
	p.dead = true
	return first
}

// end makes every later reply a late one.
func (p *promise[R]) end() {
	p.claim()
	p.tellWatchers()
}

func (p *promise[R]) watchedEnded(target *core, err error) {
	if p.claim() {
		p.outcome <- outcome[R]{ended: target.endOfAsk(err)}
	}
}

// endOfAsk is the error of an ask whose target c has ended by err.
func (c *core) endOfAsk(err error) error {
	if _, remote := c.impl.(*remoteActor); remote {
		return err
	}
	return ErrTerminated // whatever it ended by
}

func (p *promise[R]) tell(msg R) {
	if !p.claim() {
		p.sys.DeadLetter("reply to the ask of "+p.asked.fullPath(), msg, ErrLateReply)
		return
	}
	p.outcome <- outcome[R]{reply: msg}
}

func (p *promise[R]) deliver(msg any) {
	if m, ok := convert[R](msg); ok {
		p.tell(m)
		return
	}
	p.sys.deadLetter(&p.core, msg, ErrWrongType)
}
