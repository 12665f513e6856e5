package actor

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/understudy-go/understudy/internal/metadata"
)

// A Stash keeps messages that an actor cannot handle yet, see behaviors.WithStash. Only handlers of
// the actor may call its methods.
type Stash[M any] struct {
	box      *box[M]
	capacity int
	depth    int // how many strategies are around the behavior that it is for
	kept     []stashed[M]
}

type stashed[M any] struct {
	msg      M
	metadata metadata.Metadata
}

func (m *stashed[M]) over() bool {
	r := m.metadata.Request()
	return r != nil && r.Over()
}

// NewStash returns a stash for up to capacity messages of the actor with that Context. It belongs
// to the behavior that is being filled in or is handling something. NewStash panics unless capacity
// is positive.
func NewStash[M any](ctx *Context[M], capacity int) *Stash[M] {
	if capacity <= 0 {
		panic(fmt.Sprintf("actor: stash capacity %d is not positive", capacity))
	}
	c := ctx.in.cell
	return &Stash[M]{box: c.box.(*box[M]), capacity: capacity, depth: c.core.outermost().depth()}
}

// Stash appends msg to the stash and returns the next behavior: the same, or, if the stash is full,
// one that fails the actor with an error that wraps [ErrStashFull]. In the second case msg is a
// dead letter with the same error, whatever supervision decides. Check [Stash.Full] first where
// that is not fatal.
func (s *Stash[M]) Stash(msg M) Behavior[M] {
	c := &s.box.cell
	c.core.check("Stash")
	if s.Full() {
		reason := fmt.Errorf("%w: %d messages are in it", ErrStashFull, len(s.kept))
		c.deadLetter(msg, reason)
		return s.box.ctx.Fail(reason)
	}
	if len(s.kept) == 0 {
		c.core.deferred().add(cleanup{depth: s.depth, run: s.end, of: s})
	}
	of := c.core.outermost()
	if r := requestOf(of); r != nil {
		r.Keep()
	}
	s.kept = append(s.kept, stashed[M]{msg, metadataOf(of)})
	countStashed(c, 1)
	return nil
}

// UnstashAll continues with b, and returns all stashed messages, in order, to the front of the
// mailbox. Each is handled like a new message, by the behavior current at that time. Messages that
// are stashed again wait for the next call. If one of them fails the actor and it restarts, the
// next incarnation gets the others; if the actor stops, they are dead letters. Nothing happens
// unless the handler returns the result. The message of a timer that was stashed comes back even if
// the timer has been cancelled.
func (s *Stash[M]) UnstashAll(b Behavior[M]) Behavior[M] { return s.Unstash(b, math.MaxInt, nil) }

// Unstash is like [Stash.UnstashAll], for the first n messages only. Requests whose asks have ended
// are not among these: they are dead letters. Unless wrap is nil, each message is replaced with
// wrap's result.
func (s *Stash[M]) Unstash(b Behavior[M], n int, wrap func(M) M) Behavior[M] {
	return func(ctx *Context[M], next *Next[M]) {
		s.putBack(n, wrap)
		if b != nil {
			b(ctx, next)
		}
	}
}

func (s *Stash[M]) putBack(n int, wrap func(M) M) {
	var back, ended []stashed[M]
	for i := 0; i < len(s.kept) && len(back) < n; i++ {
		if m := s.kept[i]; !m.over() {
			back = append(back, m)
		} else {
			ended = append(ended, m) // a caller that counts turns must get as many
		}
	}
	if len(back)+len(ended) == 0 {
		return
	}
	s.drop(len(back) + len(ended))
	for _, m := range ended {
		s.box.cell.deadLetter(m.msg, ErrWithdrawn)
	}
	if wrap != nil {
		for i := range back {
			back[i].msg = wrap(back[i].msg)
		}
	}
	if len(back) > 0 {
		putBackStashed(s.box, back)
	}
}

func putBackStashed[M any](x *box[M], back []stashed[M]) {
	c, unused := &x.cell, &x.queue.of.unused
	if c.inner() != nil { // it has no mailbox
		var items []item
		for _, m := range back {
			items = append(items, (&item{msg: m.msg}).with(m.metadata))
		}
		c.putBack(items)
		return
	}
	var first chain[M]
	for _, m := range back {
		if !m.metadata.HasValues() {
			appendTo(&first, m.msg, beside(m.metadata.Request()), unused)
		} else {
			appendItem(&first, (&item{msg: m.msg}).with(m.metadata), unused)
		}
	}
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	// Before the batch, and not into the mailbox: stashed messages are older than all that wait,
	// and no bound refuses them, since they have been admitted once.
	first.tail.after, x.batch = x.batch, first.head
	c.batched += int32(len(back)) //nolint:gosec // memory ends before
}

func (s *Stash[M]) drop(n int) {
	countStashed(&s.box.cell, -n)
	clear(s.kept[:n]) // retain nothing
	s.kept = s.kept[n:]
	if len(s.kept) == 0 {
		s.kept = nil
		s.box.cell.core.deferred().drop(s)
	}
}

// Len returns the number of stashed messages.
func (s *Stash[M]) Len() int { return len(s.kept) }

// Full reports whether the stash has reached its capacity.
func (s *Stash[M]) Full() bool { return len(s.kept) >= s.capacity }

// Clear removes all messages, which become dead letters with [ErrDropped].
func (s *Stash[M]) Clear() {
	kept := slices.Clone(s.kept)
	s.drop(len(kept))
	for _, m := range kept {
		s.box.cell.deadLetter(m.msg, ErrDropped)
	}
}

// The incarnation ends. The spawner may want the messages back.
func (s *Stash[M]) end() {
	c, kept := &s.box.cell, s.kept
	s.kept = nil
	countStashed(c, -len(kept))
	if c.core.outermost().returnsRest() {
		putBackStashed(s.box, kept)
		return
	}
	reason := endOfStash(c)
	for _, m := range kept {
		c.deadLetter(m.msg, reason)
	}
}

var errRestarted = errors.New("the actor was restarted while the message was stashed")

func endOfStash(c *cell) error {
	if c.core.actor().context().Err() != nil {
		return ErrTerminated
	}
	return fmt.Errorf("%w: %w", ErrDropped, errRestarted)
}

func countStashed(c *cell, n int) {
	of := c.core.outermost()
	of.tally.counts.stashed.Add(int64(n))
	of.keeps(n)
}

func (c *cell) deadLetter(msg any, reason error) { c.core.sys.deadLetter(c.core.actor(), msg, reason) }
