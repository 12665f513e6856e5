package actor

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/payload"
)

// Ask sends a request to the actor and waits for the first reply. request builds the message around
// the ref to reply to; later replies are dead letters with [ErrLateReply].
//
// Its error wraps
//
//   - [ErrTerminated] when an actor of this system ends without having replied;
//   - [ErrUnreachable] when the node of the actor leaves its cluster or this system has stopped its
//     actors, and immediately if that has already happened;
//   - the reason, when a message with the reply ref becomes a dead letter on any node, for instance
//     [ErrNotSerializable], [ErrWrongType], [ErrNoSuchActor], [ErrMailboxFull], or the error of the
//     code that dropped it, if [RegisterError] has named it. The same holds for a message to which
//     the actor has passed the ref on, and for a reply that cannot be encoded or decoded. Refs are
//     found in structs, slices and pointers, but not in maps, in functions, or beside a mutex;
//   - ctx.Err() when ctx ends, with the path, the time waited and, if it is known, the cause: an
//     extension may say one, and the cause of an actor that waits for its restart is its failure.
//     It also wraps [ErrWithdrawn] if the request still waited on this node, in a mailbox, a stash
//     or for a singleton without an instance: it will not be handled. Otherwise the request may
//     have been handled, or is being handled. If ctx is already done, nothing is sent;
//   - [ErrAskOfSelf], at once, if a handler asks its own actor with its [Context];
//   - [ErrHandlerFailed], with the failure, if the handler fails before it has replied;
//   - [ErrOverloaded] if the actor is behind and could hardly answer before the deadline;
//   - a [*PanicError] if request panics; nothing is sent.
//
// To ask several actors, give each an ask of its own: if the same reply ref is sent to several, the
// ask ends as soon as one of these messages is a dead letter. Topics and routers that broadcast are
// exempt.
//
// The deadline of ctx goes with the request, to other nodes as the time that is left. A request
// whose ask has ended is not handled, wherever it waits; it is a dead letter with [ErrWithdrawn].
// Handlers read it by [Deadline]. If ctx is the [Context] of a handler and has no deadline, the ask
// ends with the one whose request is being handled. Broadcasts and messages that a handler passes
// on by Tell have no deadline.
//
// In a blocking mailbox, see [Mailbox.Block], the request waits for a place until ctx ends. Without
// a deadline in ctx, Ask may wait forever; a wait of 30 seconds is logged. For a deadline of its
// own, use [AskTimeout]. Ask blocks the calling actor; inside an actor prefer [AskToSelf].
func Ask[M, R any](ctx context.Context, to ActorRef[M], request func(replyTo ActorRef[R]) M) (R, error) {
	return askWithin(ctx, to, 0, request)
}

// AskTimeout is [Ask] with a deadline of its own: it ends after timeout, or earlier with ctx, and
// its error then wraps [context.DeadlineExceeded]. It does what Ask does with a context from
// [context.WithTimeout], but costs as little as an ask without a deadline: no context is made, and
// no timer is started for a reply that comes at once.
//
//	status, err := actor.AskTimeout(ctx, machine, 5*time.Second, request)
//
// The timeout includes the wait for a place in a blocking mailbox, or in the queue for another
// node. If it is zero or negative, it is already over: nothing is sent. To wait without a limit,
// use Ask.
func AskTimeout[M, R any](ctx context.Context, to ActorRef[M], timeout time.Duration, request func(replyTo ActorRef[R]) M) (R, error) {
	if timeout > 0 && needsNoContext(to.c) {
		return askWithin(ctx, to, timeout, request)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return Ask(ctx, to, request)
}

// True means that a timeout suffices: the message need not wait for a place, or that wait takes a
// timeout.
func needsNoContext(c *core) bool {
	return c != nil && (c.ofCell() && !c.flags.has(blocking) || c.isRemote() || isRouted(c))
}

// 0 is no timeout. If the message need not wait for a place, the timeout begins when it has been
// sent.
func askWithin[M, R any](ctx context.Context, to ActorRef[M], timeout time.Duration, request func(replyTo ActorRef[R]) M) (reply R, err error) {
	p, by := new(promise[R]), entrance{ctx: ctx, within: timeout, asks: true}
	var ended func(error)
	if traces(to.c) {
		var none M
		by.metadata, ended = beginAsk(ctx, to.c, none)
	}
	owner, err := p.ask.begin(ctx, to.c, p)
	if err != nil {
		return reply, askEnded(to.c, err, ended)
	}
	var limited bool
	if timeout, limited, err = p.ask.limit(ctx, owner, timeout); err != nil {
		return reply, askEnded(to.c, err, ended)
	}
	ends := limited || ctx.Done() != nil // in this order: Done allocates
	if ends {
		by.within, by.metadata = timeout, by.metadata.WithRequest(&p.ask.request)
	}
	defer p.ask.end()
	msg, err := guard.Value(func() M { return request(ActorRef[R]{&p.ask.core}) })
	if err != nil {
		return reply, askEnded(to.c, fmt.Errorf("ask %s: request: %w", to.c.fullPath(), err), ended)
	}
	var begun time.Time
	if ends && timeout <= 0 || !to.c.ofCell() { // a timeout begins later, and saves an ask of a cell the clock
		begun = time.Now()
	}
	if !to.c.ofCell() {
		p.ask.request.Begun(metadata.At(begun))
		if err := p.ask.reach(); err != nil {
			deadRequest(to.c, msg, err)
			return reply, askEnded(to.c, p.ask.failed(err), ended)
		}
	}
	if full := tellBy(to.c, msg, by); full != nil {
		return reply, askEnded(to.c, p.ask.notSent(ctx, full), ended)
	}
	if err := p.ask.await(ctx, owner, timeout, begun); err != nil {
		return reply, askEnded(to.c, err, ended)
	}
	return p.reply, askEnded(to.c, nil, ended)
}

func askEnded(c *core, err error, ended func(error)) error {
	if c != nil && c.sys != nil {
		c.sys.asks.count(c.uid, err)
	}
	if ended != nil {
		ended(err)
	}
	return err
}

// The owner is the actor to which ctx belongs, or nil.
func (a *ask) begin(ctx context.Context, asked *core, impl receiver) (owner *core, err error) {
	if asked == nil || asked.sys == nil {
		return nil, fmt.Errorf("ask: %w", ErrNoRef)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("ask %s: nothing was asked: %w", asked.fullPath(), err)
	}
	s := asked.sys
	a.asked = asked
	c := &a.core
	c.sys, c.uid, c.impl, c.outside = s, s.nextUID(), impl, true
	if owner = ownerOf(ctx); owner != nil {
		a.by.Store(owner)
	}
	return owner, nil
}

// Without a deadline of its own the ask ends with the request that the asking handler has got.
func (a *ask) limit(ctx context.Context, owner *core, timeout time.Duration) (within time.Duration, limited bool, err error) {
	if timeout <= 0 {
		end, ok := ctx.Deadline()
		if ok {
			a.request.EndsAt(metadata.At(end))
			return timeout, true, nil
		}
		handler := handlerOf(ctx, owner)
		if handler == nil {
			return timeout, false, nil
		}
		if timeout, ok = leftOf(handler); !ok {
			return 0, false, nil
		}
		if timeout <= 0 {
			return 0, false, fmt.Errorf("ask %s: nothing was asked: the request that is being handled has ended: %w: %w", a.asked.fullPath(), context.DeadlineExceeded, ErrWithdrawn)
		}
	}
	a.request.Within(timeout)
	return timeout, true, nil
}

// The other node may be gone before the request is sent.
func (a *ask) reach() error {
	// The watch comes first. unreachable finds a node that was removed before, and a node that is
	// removed later ends the watch. The other way round, an ask between the two would wait for its
	// deadline.
	a.watchAsked()
	return a.asked.unreachable()
}

func deadRequest(c *core, msg any, why error) { c.sys.reportDeadLetter(c.fullPath(), msg, why) }

func (a *ask) failed(why error) error { return fmt.Errorf("ask %s: %w", a.asked.fullPath(), why) }

func (a *ask) notSent(ctx context.Context, full error) error {
	if err := ctx.Err(); err != nil {
		if why := a.core.cause(); why != nil {
			full = fmt.Errorf("%w: %w", full, why)
		}
		return fmt.Errorf("ask %s: nothing was asked: %w: %w: %w", a.asked.fullPath(), err, ErrWithdrawn, full)
	}
	return a.failed(full)
}

// A promise is the ref to reply to. It has one outcome, which the first to claim it determines: the
// first reply, the end of the asked actor, or the end of the wait.
type promise[R any] struct {
	ask   ask
	reply R // written by the goroutine that has claimed it, before state is promiseSettled
}

// An ask is the untyped part of a promise.
type ask struct {
	core    core
	asked   *core
	by      atomic.Pointer[core] // the actor that asks; nil for another goroutine, and until an ask with a derived context sleeps
	claimed atomic.Bool
	state   atomic.Uint32
	watch   askWatch // of the asked actor
	passed  followed // the actor to which the asked actor has passed the request on
	request metadata.Request
	wake    chan struct{} // with one place; set when state is promiseAwaited
	ended   error         // why there is no reply; written like the reply
}

const (
	promiseOpen = iota
	promiseAwaited
	promiseSettled
)

const (
	// Most local replies come sooner than a goroutine is put to sleep and woken. But a lone one
	// that has not come after the first yield comes from another processor, and only sleeping
	// brings the two goroutines together again.
	yields = 4
	// An actor that waits for a journal or a service before it replies takes longer than that. The
	// yields of an ask of such an actor would be in vain: thousands of asking goroutines would take
	// turns, each only to see that it has no reply yet.
	lateAfter = 500 * time.Microsecond
)

func (a *ask) watchAsked() {
	if a.watch.of == nil && !a.watch.begin(a.asked, a) {
		a.watchedEnded(a.asked.actor(), ErrTerminated)
	}
}

// othersWait reports whether the request is not the only message that waits for the actor.
func (a *ask) othersWait() bool {
	c := a.asked
	if !c.mu.TryLock() {
		return true
	}
	defer c.mu.Unlock()
	return c.waiting > 1
}

func (a *ask) await(ctx context.Context, asker *core, timeout time.Duration, begun time.Time) error {
	if a.asked.isRemote() {
		return a.awaitRemote(ctx, asker, timeout, begun)
	}
	if !a.asked.flags.has(late) {
		for i := range yields {
			runtime.Gosched()
			if a.state.Load() == promiseSettled {
				return a.result()
			}
			if i == 0 && !a.othersWait() {
				break
			}
		}
	}
	if begun.IsZero() {
		begun = time.Now()
	}
	err := a.sleep(ctx, asker, timeout, begun)
	a.asked.flags.assign(late, time.Since(begun) > lateAfter)
	return err
}

// The ask began before the request was sent: that may have waited for room.
func (a *ask) awaitRemote(ctx context.Context, asker *core, timeout time.Duration, begun time.Time) error {
	left, over := timeout, ctx.Err()
	if timeout > 0 {
		left = max(timeout-time.Since(begun), 1) // 0 stands for none
	}
	if over == nil && left == 1 {
		over = context.DeadlineExceeded
	}
	if over != nil && a.state.Load() == promiseSettled && a.ended != nil { // there was no room
		return fmt.Errorf("ask %s: %w: %w", a.asked.fullPath(), over, a.ended)
	}
	return a.sleep(ctx, asker, left, begun)
}

func (a *ask) sleep(ctx context.Context, asker *core, timeout time.Duration, started time.Time) error {
	if asker != nil {
		asker.sys.scheduler.handoff(asker)
	}
	if a.asked.ofCell() {
		a.request.Begun(metadata.At(started))
	}
	a.watchAsked()
	// The watch and the channel are there before the state says that the ask waits: what settles
	// the promise after that swap sends to the channel. If the promise is settled before, the swap
	// fails, and nothing will be sent.
	w := a.core.sys.wakers.get()
	defer a.core.sys.wakers.put(w)
	a.wake = w.wake
	if !a.state.CompareAndSwap(promiseOpen, promiseAwaited) {
		return a.result()
	}
	if waitsForItself(asker, a.asked) && a.claim() {
		a.request.GiveUp()
		return a.failed(ErrAskOfSelf)
	}
	if asker != nil {
		a.core.sys.wakers.waits(w, asker, a.asked, started)
	}
	now := time.Since(epoch)
	end := endOf(ctx, now, timeout)
	w.wakeAt(now, end)
	for {
		select {
		case <-a.wake:
			return a.result()
		case <-w.early:
			now := time.Since(epoch)
			switch {
			case now < end:
				w.wakeAt(now, end)
			case timeout > 0:
				return a.expire(started, context.DeadlineExceeded)
			default:
				a.core.sys.warnOfLongAsk(a.asked)
				end = never
			}
		case <-ctx.Done():
			return a.expire(started, ctx.Err())
		}
	}
}

// Without a timeout, it is when an ask whose ctx has no deadline has waited for long.
func endOf(ctx context.Context, now, timeout time.Duration) time.Duration {
	if timeout > 0 {
		return now + min(timeout, ages) // the sum of greater ones would be negative
	}
	if _, ends := ctx.Deadline(); ends {
		return never
	}
	return now + longAsk
}

// Another goroutine may settle the promise at this moment.
func (a *ask) expire(started time.Time, reason error) error {
	// A reply that has claimed the outcome is neither late nor a dead letter, so it must be
	// returned. It is about to be written.
	if !a.claim() {
		<-a.wake
		return a.result()
	}
	return a.asked.silenceError(time.Since(started), reason, a.core.cause(), &a.request)
}

func (a *ask) result() error {
	if a.ended == nil {
		return nil
	}
	return a.failed(a.ended)
}

func (a *ask) claim() bool { return a.claimed.CompareAndSwap(false, true) }

// The outcome is known.
func (a *ask) settle() {
	if a.state.Swap(promiseSettled) == promiseAwaited {
		a.wake <- struct{}{}
	}
}

// The request is not handled any more.
func (a *ask) settleEnded(err error) {
	a.ended = err
	a.request.GiveUp()
	a.settle()
}

// All further replies are late.
func (a *ask) end() {
	a.claim()
	a.watch.end()
	a.passed.end()
	a.core.tellWatchers()
}

func (a *ask) number() uint64 { return a.core.uid }

func (a *ask) watchedEnded(target *core, err error) {
	if a.claim() {
		a.settleEnded(endedBefore(target.endOfAsk(err)))
	}
}

func endedBefore(end error) error { return fmt.Errorf("%w before it replied", end) }

func (a *ask) refuse(why error) {
	if !a.request.Shared() && !endsItself(&a.request, why) && a.claim() {
		a.settleEnded(why)
	}
}

func (a *ask) share() { a.request.Share() }

func (a *ask) askedBy() *core { return a.by.Load() }

func (a *ask) waits(why error) { waitsBy(&a.core.guarded, why) } // nothing else ends an ask by a failure

func (a *ask) follow(to *core, again sendsAgain) {
	if !a.request.Shared() {
		a.passed.follow(to, a, a.claimed.Load, again)
	}
}

func (a *ask) again(recipient string) bool { return !a.request.Shared() && a.passed.again(recipient) }

// An actor at a path without a number may never have been there, or may have ended.
func (c *core) endOfAsk(err error) error {
	if c.isRemote() {
		return err
	}
	if c.isUnresolved() {
		return fmt.Errorf("%w: %w", noActorAt(c.sys, c.label), ErrTerminated)
	}
	return ErrTerminated // whatever it ended by
}

func (*promise[R]) messageType() reflect.Type { return reflect.TypeFor[R]() }

func (p *promise[R]) tell(msg R) {
	if !p.ask.claim() {
		p.ask.core.sys.reportDeadLetter("reply to the ask of "+p.ask.asked.fullPath(), msg, ErrLateReply)
		return
	}
	p.reply = msg
	p.ask.settle()
}

func (p *promise[R]) replied(msg R) {
	copied, err := carried(&p.ask.core, msg)
	if err == nil {
		p.tell(copied)
		return
	}
	p.ask.core.sys.reportDeadLetter("reply to the ask of "+p.ask.asked.fullPath(), msg, err)
	if p.ask.claim() {
		p.ask.settleEnded(err)
	}
}

// The first is decoded where it belongs.
func (p *promise[R]) deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher) {
	for i := range all {
		typed, ok := codec.DecoderOf[R](all[i].Type)
		if !ok || p.ask.request.Shared() || !p.ask.claim() {
			p.ask.core.deliverUnpacked(&all[i], i, by)
			continue
		}
		// Decoded in place, since the ask is claimed: no other reply writes there, and the asking
		// goroutine reads it only once the promise is settled.
		if err := typed.Decode(all[i].Data, all[i].Own, &p.reply, binder{p.ask.core.sys}); err != nil {
			err = fmt.Errorf("%w: %w", payload.ErrNotDecodable, err)
			by.Undecodable(i, err)
			p.ask.ended = refused(p.ask.core.fullPath(), err)
		}
		p.ask.settle()
	}
}

func (p *promise[R]) asker() asker { return &p.ask }

func (p *promise[R]) deliver(msg any, _ entrance) {
	if err := wrongType[R](msg); err != nil {
		p.ask.core.sys.deadLetter(&p.ask.core, msg, err)
		return
	}
	m, _ := msg.(R) // a nil is the zero value
	p.tell(m)
}
