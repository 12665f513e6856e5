package actor

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/guard"
)

type halt struct {
	begun atomic.Bool

	mu     sync.Mutex
	at     time.Time
	ending bool    // actors may end, and do nothing else
	held   []*core // whose turn it was
	hooks  map[int]func()
	number int
}

func (s internals) Halt() {
	h := &s.halt
	select {
	case <-s.shutdown.begins:
		return
	default:
	}
	h.mu.Lock()
	if h.begun.Load() {
		h.mu.Unlock()
		return
	}
	h.at = time.Now()
	h.begun.Store(true)
	hooks := h.hooks
	h.hooks = nil
	h.mu.Unlock()
	for _, f := range hooks {
		if err := guard.Do(f); err != nil {
			s.log.Error("function of OnHalt has panicked", zap.Error(err))
		}
	}
	for _, g := range []*guardian{s.user, s.system} {
		g.interrupt()
	}
}

func (s internals) Halted() (at time.Time, halted bool) {
	s.halt.mu.Lock()
	defer s.halt.mu.Unlock()
	return s.halt.at, s.halt.begun.Load()
}

func (s internals) OnHalt(f func()) (cancel func()) {
	h := &s.halt
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hooks == nil {
		h.hooks = make(map[int]func())
	}
	h.number++
	number := h.number
	h.hooks[number] = f
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.hooks, number)
	}
}

// hold keeps an actor from its turn, unless the system is shutting down by now.
func (h *halt) hold(c *core) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ending {
		h.held = append(h.held, c)
	}
	return !h.ending
}

func (h *halt) end(s *scheduler) {
	h.mu.Lock()
	h.ending = true
	held := h.held
	h.held = nil
	h.mu.Unlock()
	for _, c := range held {
		s.ready(c)
	}
}

func (c *core) interrupt() {
	for _, child := range c.childList() {
		child.impl.(*cell).setUrgent() // only cells are children
		child.interrupt()
	}
}

// The actor does nothing but end.
func (c *cell) workToEnd() (more bool) {
	for {
		if !c.core.sys.halt.isEnding() {
			return true // the next turn is held
		}
		msg, ok := c.nextSystem()
		if !ok {
			break
		}
		if msg.kind == sysStop || msg.kind == sysChildEnded && c.core.phase == stopping {
			c.handleSystem(msg)
		}
	}
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	if c.systemWaits() {
		return true
	}
	c.core.scheduled = false
	c.core.owner.end()
	return false
}

func (h *halt) isEnding() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ending
}

var errResting = errors.New("the actor is about to rest")

// Spawn has returned the actor. It ends once it has handled the messages that it has, and takes no
// others.
func (*returning) Finish(to AnyRef) {
	c := to.target().impl.(*cell) // Spawn has made it
	c.core.mu.Lock()
	if c.core.flags.has(resting) {
		c.core.mu.Unlock()
		return
	}
	c.rests()
	c.core.mu.Unlock()
	c.enqueue(item{task: endWhenReached{}}, &entrance{})
}

// Spawn has returned the actor. It ends if it has no message and waits for nothing. While it
// starts, a signal would wait until it has, and end it then.
func (r *returning) Rest(to AnyRef) {
	if !r.Starting(to) {
		to.target().impl.(*cell).signal(systemMsg{kind: sysRest}) // Spawn has made it
	}
}

// Starting is also true while the actor restarts.
func (*returning) Starting(of AnyRef) bool {
	c := of.target()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.suspended && !c.closed
}

func (*returning) Used(of AnyRef) (round uint32, worked bool) {
	c := of.target()
	return c.flags.round(), c.flags.has(inUse)
}

// Resting is false once the actor has ended.
func (*returning) Resting(of AnyRef) bool { return of.target().flags.has(resting) }

// core.mu is held.
func (b *inbox) rests() {
	b.core.flags.set(resting)
	b.refit()
}

func (c *cell) rest() {
	if c.core.phase != running || c.batched > 0 || c.priorities.size() > 0 || c.awaited > 0 || c.core.childCount() > 0 {
		return
	}
	c.core.mu.Lock()
	idle := c.core.waiting == 0 && !c.core.flags.has(resting)
	if idle {
		c.rests()
	}
	c.core.mu.Unlock()
	if idle {
		c.endByLastMessage()
	}
}

// Its spawner may have a last message for it.
func (c *cell) endByLastMessage() {
	if last := c.conf.returns.last; last != nil {
		c.box.handle(last)
	} else {
		c.beginStop(nil)
	}
}

type endWhenReached struct{ trailing }

func (endWhenReached) run(c *cell) { c.endByLastMessage() }

// What keeps an actor from resting: asks that it waits for, and messages in stashes.
func (b *inbox) keeps(n int) {
	if b.conf.returns != nil {
		b.own().awaited += n
	}
}

// only is the task of the batch if that is all. A timer that rings alone does not count.
func (b *inbox) useBy(only task) {
	switch only.(type) {
	case nil, *described, *request:
		b.use()
	}
}

func (b *inbox) use() {
	if r := b.conf.returns; r != nil {
		b.core.flags.note(inUse, r.rounds.Load())
	}
}

func (x *inside) Awaits(n int) {
	x.cell.core.check("Awaits")
	x.cell.core.outermost().keeps(n)
}
