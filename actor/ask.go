package actor

import (
	"context"
	"fmt"
	"github.com/understudy-go/understudy/internal/payload"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
)

// Ask tells the actor a request and waits for the reply: request builds the message
// around the ref to reply to. The first reply counts; later ones are dead letters with
// [ErrLateReply].
//
// Its error wraps
//
//   - the reason, as soon as a message with the ref to reply to has become a dead letter, on
//     whichever node: for instance [ErrNotSerializable], [ErrWrongType], [ErrNoSuchActor],
//     [ErrMailboxFull], or the error of the code that dropped it, if that is registered by
//     [RegisterError]; also where the actor has passed it on. So does the reply, if it cannot
//     be encoded or decoded. See [System.DeadLetter] for where the ref is found;
//   - [ErrTerminated] as soon as the actor is known to have ended without a reply, for actors
//     of this system only;
//   - [ErrUnreachable] as soon as the node of the actor is known to have left its cluster, or
//     this system has stopped its actors; at once, where that has been before;
//   - ctx.Err() when ctx ends, with the path and the time waited and, where
//     [System.ExplainSilence] knows it, the reason. It wraps [ErrWithdrawn] as well where the
//     request was still being kept on this node, by a singleton without an instance for
//     example, and is not delivered any more. Otherwise the request may still be handled. Where
//     ctx has ended before, nothing is told;
//   - the panic of request, in which case nothing is told either.
//
// Who tells the ref to several by itself should give each an ask of its own: one of them that
// cannot be told ends the ask. With topics and routers that tell all it does not.
//
// In a mailbox that blocks, see [Mailbox.Block], the request waits for room no longer than ctx.
// Without a deadline in ctx it may wait for ever; that it waits is logged after 30 seconds.
// Inside an actor it blocks that actor; prefer [AskToSelf].
func Ask[M, R any](ctx context.Context, to ActorRef[M], request func(replyTo ActorRef[R]) M) (R, error) {
	var none R
	if to.c == nil || to.c.sys == nil {
		return none, fmt.Errorf("ask: %w", ErrNoRef)
	}
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("ask %s: nothing was asked: %w", to.Path(), err)
	}
	p := newPromise[R](to.c)
	defer p.end()
	msg, err := build(request, ActorRef[R]{&p.core})
	if err != nil {
		return none, fmt.Errorf("ask %s: request: %w", to.Path(), err)
	}
	if _, here := to.c.impl.(*cell[M]); !here {
		p.watch() // whose node may be gone before the request is
		if why := to.c.unreachable(); why != nil {
			to.c.sys.reportDeadLetter(to.c.fullPath(), msg, why)
			return none, fmt.Errorf("ask %s: %w", to.c.fullPath(), why)
		}
	}
	if full := to.offer(msg, entrance{ctx: ctx}); full != nil { // it is a dead letter, as when the target has ended
		if err := ctx.Err(); err != nil {
			return none, fmt.Errorf("ask %s: nothing was asked: %w: %w", to.Path(), err, full)
		}
		return none, fmt.Errorf("ask %s: %w", to.Path(), full)
	}
	return p.await(ctx)
}

func build[M, R any](request func(ActorRef[R]) M, replyTo ActorRef[R]) (msg M, err error) {
	return guard.Value(func() M { return request(replyTo) })
}

// A promise is the ref to reply to. It has one outcome: the first reply, the end of the
// target, or the end of the wait, whichever claims it first.
type promise[R any] struct {
	core
	asked   *core
	claimed atomic.Bool
	state   atomic.Uint32
	watches bool        // it is a watcher of the asked actor; of the asker's goroutine
	shared  atomic.Bool // see asker
	custody
	wake  chan struct{} // of one, when state is promiseAwaited
	reply R             // written by the goroutine that has claimed it, until state is promiseSettled
	ended error         // why there is no reply
}

const (
	promiseOpen    = iota
	promiseAwaited // who settles it wakes who asked
	promiseSettled // it has a reply, or ended
)

// yields is how often who asks lets others run before it waits: most replies come sooner
// than a goroutine is put to sleep and woken, but for those from another node.
const yields = 4

func newPromise[R any](asked *core) *promise[R] {
	s := asked.sys
	p := &promise[R]{asked: asked}
	p.sys, p.uid, p.impl, p.outside = s, s.nextUID(), p, true
	return p
}

// watch lets the end of the target settle the promise, and that of this system.
func (p *promise[R]) watch() {
	if p.watches {
		return
	}
	p.watches = true
	target := p.asked.actor()
	if !target.addWatcher(p) {
		p.watchedEnded(target, ErrTerminated)
	}
}

func (p *promise[R]) await(ctx context.Context) (R, error) {
	if p.asked.isRemote() {
		return p.sleep(ctx)
	}
	for range yields {
		runtime.Gosched()
		if p.state.Load() == promiseSettled {
			return p.result()
		}
	}
	return p.sleep(ctx)
}

// sleep waits for the outcome without using a processor.
func (p *promise[R]) sleep(ctx context.Context) (R, error) {
	started := time.Now()
	willBlock(ctx)
	p.watch()
	w := p.sys.wakers.get()
	defer p.sys.wakers.put(w)
	p.wake = w.wake
	if !p.state.CompareAndSwap(promiseOpen, promiseAwaited) {
		return p.result()
	}
	var long <-chan time.Time
	if _, ends := ctx.Deadline(); !ends {
		long = w.after(longAsk)
	}
	for {
		select {
		case <-p.wake:
			return p.result()
		case <-long:
			p.sys.warnOfLongAsk(p.asked)
		case <-ctx.Done():
			if p.claim() {
				var none R
				return none, p.silenceError(ctx, time.Since(started))
			}
			<-p.wake // an outcome is on its way
			return p.result()
		}
	}
}

func (p *promise[R]) silenceError(ctx context.Context, waited time.Duration) error {
	return p.asked.silenceError(waited, ctx.Err(), p.giveUp())
}

// silenceError is the error of an ask of c that was not answered in time.
func (c *core) silenceError(waited time.Duration, err error, withdrawn bool) error {
	if why := c.actor().silence(); why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	if withdrawn {
		return fmt.Errorf("ask %s: no reply after %v: %w: %w", c.fullPath(), waited, err, ErrWithdrawn)
	}
	return fmt.Errorf("ask %s: no reply after %v, and the request may still be handled: %w", c.fullPath(), waited, err)
}

// result is that of a settled promise.
func (p *promise[R]) result() (R, error) {
	if p.ended == nil {
		return p.reply, nil
	}
	var none R
	return none, fmt.Errorf("ask %s: %w", p.asked.fullPath(), p.ended)
}

// claim reports whether the caller decides on the outcome; who does settles it then.
func (p *promise[R]) claim() bool { return p.claimed.CompareAndSwap(false, true) }

// settle tells who asked that there is an outcome.
func (p *promise[R]) settle() {
	if p.state.Swap(promiseSettled) == promiseAwaited {
		p.wake <- struct{}{}
	}
}

func (p *promise[R]) settleEnded(err error) {
	p.ended = err
	p.settle()
}

// end makes every later reply a late one.
func (p *promise[R]) end() {
	p.claim()
	if p.watches {
		p.asked.actor().removeWatcher(p)
	}
	p.tellWatchers()
}

func (p *promise[R]) watchedEnded(target *core, err error) {
	if p.claim() {
		p.settleEnded(endedBefore(target.endOfAsk(err)))
	}
}

// errNobodyThere ends asks of a path where nobody lives, of an actor that has ended perhaps.
var errNobodyThere = fmt.Errorf("%w: %w", ErrNoSuchActor, ErrTerminated)

func endedBefore(end error) error { return fmt.Errorf("%w before it replied", end) }

func (p *promise[R]) refuse(why error) {
	if !p.shared.Load() && p.claim() {
		p.settleEnded(why)
	}
}

func (p *promise[R]) share() { p.shared.Store(true) }

// endOfAsk is the error of an ask whose target c has ended by err.
func (c *core) endOfAsk(err error) error {
	if c.isRemote() {
		return err
	}
	if c.wanders() {
		return errNobodyThere
	}
	return ErrTerminated // whatever it ended by
}

func (p *promise[R]) tell(msg R) {
	if !p.claim() {
		p.sys.reportDeadLetter("reply to the ask of "+p.asked.fullPath(), msg, ErrLateReply)
		return
	}
	p.reply = msg
	p.settle()
}

// replied is tell for a reply of this system.
func (p *promise[R]) replied(msg R) {
	copied, err := carried(&p.core, msg)
	if err == nil {
		p.tell(copied)
		return
	}
	p.sys.reportDeadLetter("reply to the ask of "+p.asked.fullPath(), msg, err)
	if p.claim() {
		p.settleEnded(err)
	}
}

func (p *promise[R]) deliver(msg any, _ entrance) {
	if m, ok := payload.As[R](msg); ok {
		p.tell(m)
		return
	}
	p.sys.deadLetter(&p.core, msg, wrongType[R](msg))
}
