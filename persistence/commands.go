package persistence

import "github.com/understudy-go/understudy/actor"

// A command is a message for an entity, with the Context with which it came. In a trace, that
// Context is within the span of the command.
type command[M any] struct {
	msg   M
	ctx   *actor.Context[M]
	timer *timer // because of which it came; nil if it was sent
}

// commands are the commands that an actor has taken from its mailbox and not handled yet.
type commands[M any] struct {
	turn    []command[M] // run next, in order
	stashed []command[M] // in order
}

// any reports whether a command is to run now.
func (c *commands[M]) any() bool { return len(c.turn) > 0 }

// put adds a command that runs after those that are already waiting to run.
func (c *commands[M]) put(cmd command[M]) { c.turn = append(c.turn, cmd) }

// next takes the command that runs next.
func (c *commands[M]) next() (cmd command[M]) {
	cmd, c.turn[0] = c.turn[0], cmd // release the command
	c.turn = c.turn[1:]
	if len(c.turn) == 0 {
		c.turn = nil
	}
	return cmd
}

// stash keeps a command. It reports whether there was room for it.
func (c *commands[M]) stash(cmd command[M], capacity int) bool {
	if len(c.stashed) >= capacity {
		return false
	}
	c.stashed = append(c.stashed, cmd)
	return true
}

// unstash lets the first n stashed commands run next.
func (c *commands[M]) unstash(n int) {
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

// all returns all commands, in order.
func (c *commands[M]) all() []command[M] { return append(c.turn, c.stashed...) }
