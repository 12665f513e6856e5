package actor

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// A Stash keeps messages that an actor cannot handle yet, see behaviors.WithStash. Only handlers of
// the actor may call its methods.
type Stash[M any] struct {
	cell     *cell[M]
	capacity int
	depth    int       // how many strategies are around the behavior that it is for
	kept     []item[M] // plain messages, some with metadata
}

// NewStash returns a stash for up to capacity messages. It belongs to the behavior that is being
// filled in or is handling something. NewStash panics unless capacity > 0.
func (c *Context[M]) NewStash(capacity int) *Stash[M] {
	if capacity <= 0 {
		panic(fmt.Sprintf("actor: stash capacity %d is not positive", capacity))
	}
	return &Stash[M]{cell: c.cell, capacity: capacity, depth: c.cell.core.outermost().depth()}
}

// Stash appends msg to the stash and returns the next behavior: the same, or, if the stash is full,
// one that fails the actor with an error that wraps [ErrStashFull]. In the second case msg is a
// dead letter with the same error, whatever supervision decides. Check [Stash.Full] first where
// that is not fatal.
func (s *Stash[M]) Stash(msg M) Behavior[M] {
	s.cell.core.check("Stash")
	if s.Full() {
		reason := fmt.Errorf("%w: %d messages are in it", ErrStashFull, len(s.kept))
		s.deadLetter(msg, reason)
		return s.cell.ctx.Fail(reason)
	}
	if len(s.kept) == 0 {
		s.cell.core.deferred().add(cleanup{depth: s.depth, run: s.end, of: s})
	}
	m, _ := s.cell.core.outermost().handled()
	s.kept = append(s.kept, (&item[M]{msg: msg}).with(m))
	s.count(1)
	return nil
}

// UnstashAll continues with b, and returns all stashed messages, in order, to the front of the
// mailbox. Each is handled like a new message, by the behavior current at that time. Messages that
// are stashed again wait for the next call. If one of them fails the actor and it restarts, the
// next incarnation gets the others; if the actor stops, they are dead letters.
func (s *Stash[M]) UnstashAll(b Behavior[M]) Behavior[M] { return s.Unstash(b, math.MaxInt, nil) }

// Unstash is like [Stash.UnstashAll], for the first n messages only. Unless wrap is nil, each is
// replaced with wrap's result.
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
	back := slices.Clone(s.kept[:n])
	if wrap != nil {
		for i, it := range back {
			wrapped := item[M]{msg: wrap(it.plain().msg)}
			back[i] = wrapped.with(it.metadata())
		}
	}
	s.drop(n)
	s.cell.putBack(back)
}

// drop removes the first n.
func (s *Stash[M]) drop(n int) {
	s.count(-n)
	clear(s.kept[:n]) // retain nothing
	s.kept = s.kept[n:]
	if len(s.kept) == 0 {
		s.kept = nil
		s.cell.core.deferred().drop(s)
	}
}

// Len returns the number of stashed messages.
func (s *Stash[M]) Len() int { return len(s.kept) }

// Cap returns the capacity.
func (s *Stash[M]) Cap() int { return s.capacity }

// Full reports whether the stash has reached its capacity.
func (s *Stash[M]) Full() bool { return len(s.kept) >= s.capacity }

// Head returns the oldest stashed message; ok is false if the stash is empty.
func (s *Stash[M]) Head() (msg M, ok bool) {
	if len(s.kept) == 0 {
		return msg, false
	}
	return s.kept[0].plain().msg, true
}

// All returns the stashed messages in order, without removing them.
func (s *Stash[M]) All() iter.Seq[M] {
	return func(yield func(M) bool) {
		for _, it := range s.kept {
			if !yield(it.plain().msg) {
				return
			}
		}
	}
}

// Clear removes all messages, which become dead letters with [ErrDropped].
func (s *Stash[M]) Clear() {
	kept := slices.Clone(s.kept)
	s.drop(len(kept))
	for _, it := range kept {
		s.deadLetter(it.plain().msg, ErrDropped)
	}
}

// errRestarted is the reason for which a restart loses messages that were stashed inside
// supervision.
var errRestarted = errors.New("the actor was restarted while the message was stashed")

// end makes the remaining messages dead letters, as the incarnation ends, unless its spawner wants
// them back.
func (s *Stash[M]) end() {
	kept := s.kept
	s.kept = nil
	s.count(-len(kept))
	if s.cell.core.outermost().returnsRest() {
		s.cell.putBack(kept)
		return
	}
	reason := fmt.Errorf("%w: %w", ErrDropped, errRestarted)
	if s.cell.ctx.Err() != nil {
		reason = ErrTerminated
	}
	for _, it := range kept {
		s.deadLetter(it.plain().msg, reason)
	}
}

// count counts n more messages in stashes of the actor's kind.
func (s *Stash[M]) count(n int) {
	of := s.cell.core.outermost()
	of.counts().stashed.Add(int64(n))
	of.keeps(n)
}

func (s *Stash[M]) deadLetter(msg M, reason error) {
	s.cell.core.sys.deadLetter(s.cell.core.actor(), msg, reason)
}

// putBack puts items, of which there must be some, at the front of the mailbox.
func (c *cell[M]) putBack(items []item[M]) {
	if outer := c.outer(); outer != nil {
		outer.putBack(items)
		return
	}
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	c.batch.putBack(items, &c.conf.chunks)
}
