package persistence

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// A command is a message for an entity, with the Context with which it came. In a trace, that
// Context is within the span of the command.
type command struct {
	msg      any
	ctx      actorContext
	metadata extension.Metadata
	timer    *timer // because of which it came; nil if it was sent
}

func (c *command) keep() { extension.Described[any]{Message: c.msg, Metadata: c.metadata}.Hold() }

// takes reports whether the command is still to be run: it is not if it is the request of an ask
// that has ended.
func (c *command) takes() bool {
	r := c.metadata.Request()
	return r == nil || r.Take()
}

// commands are the commands that an actor has taken from its mailbox and not handled yet.
type commands struct {
	turn    []command // run next, in order
	stashed []command // in order
}

func (c *commands) any() bool { return len(c.turn) > 0 }

func (c *commands) put(cmd command) {
	cmd.keep()
	c.turn = append(c.turn, cmd)
}

func (c *commands) next() (cmd command) {
	cmd, c.turn[0] = c.turn[0], cmd // release the command
	c.turn = c.turn[1:]
	if len(c.turn) == 0 {
		c.turn = nil
	}
	return cmd
}

func (c *commands) stash(cmd command, capacity int) bool {
	if len(c.stashed) >= capacity {
		return false
	}
	cmd.keep()
	c.stashed = append(c.stashed, cmd)
	return true
}

// unstash lets the first n stashed commands run next.
func (c *commands) unstash(n int) {
	n = min(n, len(c.stashed))
	if n == 0 {
		return
	}
	ready := c.stashed[:n:n]
	c.stashed = c.stashed[n:]
	if len(c.stashed) == 0 {
		c.stashed = nil
	}
	c.turn = append(ready, c.turn...)
}

// all returns all commands that were sent, in order. Those of timers are in the journal.
func (c *commands) all() []command {
	return slices.DeleteFunc(append(slices.Clone(c.turn), c.stashed...), func(cmd command) bool { return cmd.timer != nil })
}

type actorContext interface {
	context.Context
	Log() *zap.Logger
	System() *actor.System
}

// A mailbox takes commands back that an actor has not handled.
type mailbox interface {
	putBack(cmds []command) bool
	// tell sends a command again, behind those in the mailbox.
	tell(cmd command)
}

type mailboxOf[M any] actor.Context[M]

func (m *mailboxOf[M]) putBack(cmds []command) bool {
	msgs := make([]extension.Described[any], len(cmds))
	for i, cmd := range cmds {
		msgs[i] = extension.Described[any]{Message: cmd.msg, Metadata: cmd.metadata}
	}
	return extension.PutBack((*actor.Context[M])(m), msgs)
}

func (m *mailboxOf[M]) tell(cmd command) {
	self := (*actor.Context[M])(m).Self()
	if cmd.metadata.IsEmpty() {
		self.TellContext(cmd.ctx, as[M](cmd.msg))
	} else {
		extension.TellWith(self, as[M](cmd.msg), cmd.metadata)
	}
}
