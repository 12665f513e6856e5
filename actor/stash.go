package actor

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// A Stash keeps messages that an actor cannot handle yet, see behaviors.WithStash. Its
// methods are for the actor's own handlers only.
type Stash[M any] struct {
	cell     *cell[M]
	capacity int
	depth    int // how many strategies are around the behavior that it is for
	kept     []M
}

// NewStash returns a stash with room for capacity messages, for the behavior that is
// being filled in or handles something now. It panics unless capacity is positive.
func (c *Context[M]) NewStash(capacity int) *Stash[M] {
	if capacity <= 0 {
		panic(fmt.Sprintf("actor: stash capacity %d is not positive", capacity))
	}
	return &Stash[M]{cell: c.cell, capacity: capacity, depth: c.cell.depth()}
}

// Stash puts msg aside, behind what is there, and returns the behavior to go on with: the
// same, or, when there is no room, one that fails the actor with an error that wraps
// [ErrStashFull]. What had no room is a dead letter for the same reason, whatever becomes
// of the actor. Look at [Stash.Full] before, where that is not the end.
func (s *Stash[M]) Stash(msg M) Behavior[M] {
	s.cell.check("Stash")
	if s.Full() {
		reason := fmt.Errorf("%w: %d messages are in it", ErrStashFull, len(s.kept))
		s.deadLetter(msg, reason)
		return s.cell.ctx.Fail(reason)
	}
	if len(s.kept) == 0 {
		s.cell.addCleanup(cleanup{depth: s.depth, run: s.end, of: s})
	}
	s.kept = append(s.kept, msg)
	return nil
}

// UnstashAll goes on as b does, with all that was put aside, in order, before whatever
// waits in the mailbox. Each is handled as if it had been told now, by the behavior that
// there is then. What is put aside again waits for the next time. When one of them fails
// the actor and it restarts, the others go to the next incarnation; when it stops, they
// are dead letters.
func (s *Stash[M]) UnstashAll(b Behavior[M]) Behavior[M] { return s.Unstash(b, math.MaxInt, nil) }

// Unstash is [Stash.UnstashAll] with no more than the first n, each as wrap makes it,
// unless wrap is nil.
func (s *Stash[M]) Unstash(b Behavior[M], n int, wrap func(M) M) Behavior[M] {
	return func(ctx *Context[M], next *Next[M]) {
		s.putBack(min(n, s.Len()), wrap)
		if b != nil {
			b(ctx, next)
		}
	}
}

func (s *Stash[M]) putBack(n int, wrap func(M) M) {
	if n <= 0 {
		return
	}
	back := make([]item[M], n)
	for i, msg := range s.kept[:n] {
		if wrap != nil {
			msg = wrap(msg)
		}
		back[i].msg = msg
	}
	s.drop(n)
	s.cell.putBack(back)
}

// drop forgets the first n.
func (s *Stash[M]) drop(n int) {
	clear(s.kept[:n]) // retain nothing
	s.kept = s.kept[n:]
	if len(s.kept) == 0 {
		s.kept = nil
		s.cell.dropCleanup(s)
	}
}

// Len returns how many messages are in it.
func (s *Stash[M]) Len() int { return len(s.kept) }

// Cap returns for how many it has room.
func (s *Stash[M]) Cap() int { return s.capacity }

// Full reports whether there is no room for another.
func (s *Stash[M]) Full() bool { return len(s.kept) >= s.capacity }

// Head returns the message that was put aside first; ok is false when there is none.
func (s *Stash[M]) Head() (msg M, ok bool) {
	if len(s.kept) == 0 {
		return msg, false
	}
	return s.kept[0], true
}

// All returns the messages in order; they stay where they are.
func (s *Stash[M]) All() iter.Seq[M] { return slices.Values(s.kept) }

// Clear drops all messages, which become dead letters with [ErrDropped].
func (s *Stash[M]) Clear() {
	kept := slices.Clone(s.kept)
	s.drop(len(kept))
	for _, msg := range kept {
		s.deadLetter(msg, ErrDropped)
	}
}

// errRestarted is why what was put aside inside of supervision is lost in a restart.
var errRestarted = errors.New("the actor was restarted while the message was stashed")

// end gives up what is left, as the incarnation ends.
func (s *Stash[M]) end() {
	reason := fmt.Errorf("%w: %w", ErrDropped, errRestarted)
	if s.cell.ctx.Err() != nil {
		reason = ErrTerminated
	}
	for _, msg := range s.kept {
		s.deadLetter(msg, reason)
	}
	s.kept = nil
}

func (s *Stash[M]) deadLetter(msg M, reason error) {
	s.cell.sys.deadLetter(s.cell.actor(), msg, reason)
}

// depth is how many strategies are around what the actor is now.
func (c *cell[M]) depth() int {
	if host := c.hosted(); host != nil {
		return host.depth()
	}
	return len(c.layers)
}

func (c *cell[M]) addCleanup(l cleanup) {
	if host := c.hosted(); host != nil {
		host.addCleanup(l)
		return
	}
	c.own().cleanups = append(c.cleanups, l)
}

// dropCleanup takes out the cleanup that belongs to owner.
func (c *cell[M]) dropCleanup(owner any) {
	if host := c.hosted(); host != nil {
		host.dropCleanup(owner)
		return
	}
	c.cleanups = slices.DeleteFunc(c.cleanups, func(l cleanup) bool { return l.of == owner })
}

// putBack puts items, which are not empty, before all that waits in the mailbox.
func (c *cell[M]) putBack(items []item[M]) {
	if host := c.hosted(); host != nil {
		host.putBack(items)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batch.putBack(items, &c.conf.chunks)
}
