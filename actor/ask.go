package actor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Ask tells the actor a request and waits for the reply: request builds the message
// around the ref to reply to. The first reply counts; later ones are dead letters with
// [ErrLateReply].
//
// Its error wraps [ErrTerminated] as soon as the actor is known to have ended without a
// reply (for actors of this system only), or ctx.Err() when ctx ends, with the path and
// the time waited; or it is the panic of request, in which case nothing was told.
// Without a deadline in ctx it may wait for ever. Inside an actor it blocks that actor;
// prefer [PipeToSelf] around it.
func Ask[M, R any](ctx context.Context, to ActorRef[M], request func(replyTo ActorRef[R]) M) (R, error) {
	var none R
	if to.c == nil {
		return none, fmt.Errorf("ask: %w", ErrNoRef)
	}
	p := newPromise[R](to.c)
	defer p.end()
	msg, err := build(request, ActorRef[R]{&p.core})
	if err != nil {
		return none, fmt.Errorf("ask %s: request: %w", to.Path(), err)
	}
	target := to.c.actor()
	watched := target.addWatcher(watcher{who: &p.core, tell: p.targetEnded})
	defer target.removeWatcher(&p.core)
	to.Tell(msg) // a dead letter when the target has ended
	if !watched && !target.resolvesLate() {
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

// A promise is the ref to reply to, good for one reply.
type promise[R any] struct {
	core
	asked *core
	reply chan R        // of one
	ended chan struct{} // closed when the target has ended

	mu   sync.Mutex // guards done
	done bool
}

func newPromise[R any](asked *core) *promise[R] {
	s := asked.sys
	p := &promise[R]{asked: asked, reply: make(chan R, 1), ended: make(chan struct{})}
	p.core = core{sys: s, address: s.address, uid: s.nextUID(), impl: p}
	return p
}

func (p *promise[R]) await(ctx context.Context) (R, error) {
	started := time.Now()
	select {
	case r := <-p.reply:
		return r, nil
	case <-p.ended:
	case <-ctx.Done():
	}
	select {
	case r := <-p.reply: // it came first, or at the same time
		return r, nil
	default:
	}
	var none R
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("ask %s: no reply after %v: %w", p.asked.fullPath(), time.Since(started), err)
	}
	return none, fmt.Errorf("ask %s: %w before it replied", p.asked.fullPath(), ErrTerminated)
}

func (p *promise[R]) targetEnded(*core, error) { close(p.ended) }

func (p *promise[R]) tell(msg R) {
	if !p.claim() {
		p.sys.DeadLetter("reply to the ask of "+p.asked.fullPath(), msg, ErrLateReply)
		return
	}
	p.reply <- msg
}

// claim takes the right to reply; only the first gets it, and none after the end.
func (p *promise[R]) claim() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return false
	}
	p.done = true
	return true
}

// end makes every later reply a late one.
func (p *promise[R]) end() {
	p.claim()
	p.sys.unexport(p.uid)
}

func (p *promise[R]) deliver(msg any) {
	if m, ok := convert[R](msg); ok {
		p.tell(m)
		return
	}
	p.sys.deadLetter(&p.core, msg, ErrWrongType)
}

func (p *promise[R]) signal(systemMsg) {}

func (p *promise[R]) context() context.Context { return context.Background() }

func (p *promise[R]) ref() AnyRef { return ActorRef[R]{&p.core} }
