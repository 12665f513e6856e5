package actor

import (
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
