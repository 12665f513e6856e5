package topic

import (
	"fmt"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/actor/receptionist"
)

// An office has the topics of a system with subscribers there, as its extension. Whoever
// publishes or subscribes reads and changes its boards; the desk, an actor, sees that
// other nodes know of those.
type office struct {
	open sync.Once
	desk actor.ActorRef[settler] // told a board when its subscribers come or go

	mu     sync.Mutex // guards all below
	boards map[string]any
}

// A settler is a board of any type.
type settler interface {
	settle(ctx *actor.Context[settler])
}

func officeOf(s *actor.System) *office {
	o := extension.Ensure(s, func() *office { return &office{boards: map[string]any{}} })
	o.open.Do(func() {
		o.desk = actor.Spawn(extension.Framework(s), func(_ *actor.Context[settler], next *actor.Next[settler]) {
			next.OnMessage = func(ctx *actor.Context[settler], b settler) actor.Behavior[settler] {
				b.settle(ctx)
				return nil
			}
		}, "topics")
	})
	return o
}

// A board is a topic with its subscribers on this node. While there are any, it has an inbox,
// which is registered for what other nodes publish.
type board[T any] struct {
	office      *office
	topic       Topic[T]
	subscribers []subscriber[T]   // guarded by office.mu; replaced, never changed
	inbox       actor.ActorRef[T] // owned by the desk
}

type subscriber[T any] struct {
	ref    actor.ActorRef[T]
	cancel func() // the wait for its end; nil until there is one
}

// Carried is for [extension.DeadLetter]: when the system has ended there is nothing to settle.
func (b *board[T]) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// boardOf returns the subscribers of a topic on this node.
func boardOf[T any](o *office, t Topic[T]) []subscriber[T] {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b := find(o, t); b != nil {
		return b.subscribers
	}
	return nil
}

// find returns the board of a topic, or nil. It panics when it is one of another type. o.mu
// is held.
func find[T any](o *office, t Topic[T]) *board[T] {
	found, exists := o.boards[t.key.Name()]
	if !exists {
		return nil
	}
	b, ok := found.(*board[T])
	if !ok {
		panic(fmt.Sprintf("topic: %q is used with another type of messages on this node; give it another name", t.Name()))
	}
	return b
}

func subscribe[T any](o *office, t Topic[T], ref actor.ActorRef[T]) (b *board[T], added bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b = find(o, t); b == nil {
		b = &board[T]{office: o, topic: t}
		o.boards[t.key.Name()] = b
	}
	if b.index(ref) >= 0 {
		return b, false
	}
	b.subscribers = append(slices.Clip(b.subscribers), subscriber[T]{ref: ref})
	return b, true
}

func unsubscribe[T any](o *office, t Topic[T], ref actor.ActorRef[T]) (b *board[T], cancel func(), removed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b = find(o, t); b == nil {
		return nil, nil, false
	}
	i := b.index(ref)
	if i < 0 {
		return nil, nil, false
	}
	cancel = b.subscribers[i].cancel
	b.subscribers = slices.Delete(slices.Clone(b.subscribers), i, i+1)
	return b, cancel, true
}

// await keeps what cancels the wait for the end of a subscriber, or calls it when that has
// gone by now.
func (b *board[T]) await(ref actor.ActorRef[T], cancel func()) {
	b.office.mu.Lock()
	i := b.index(ref)
	if i >= 0 {
		b.subscribers = slices.Clone(b.subscribers)
		b.subscribers[i].cancel = cancel
	}
	b.office.mu.Unlock()
	if i < 0 {
		cancel()
	}
}

// index is the place of a subscriber, or -1. office.mu is held.
func (b *board[T]) index(ref actor.ActorRef[T]) int {
	return slices.IndexFunc(b.subscribers, func(s subscriber[T]) bool { return s.ref == ref })
}

func tellAll[T any](subscribers []subscriber[T], msg T) int {
	for _, each := range subscribers {
		each.ref.TellNoWait(msg)
	}
	return len(subscribers)
}

// settle sees that there is an inbox just when there are subscribers, and forgets a board
// without any.
func (b *board[T]) settle(ctx *actor.Context[settler]) {
	var none actor.ActorRef[T]
	switch wanted := b.wanted(); {
	case wanted && b.inbox == none:
		b.inbox = actor.Spawn(ctx, b.receive(), "")
		receptionist.Register(ctx.System(), b.topic.key, b.inbox)
	case !wanted && b.inbox != none:
		receptionist.Deregister(ctx.System(), b.topic.key, b.inbox)
		ctx.Drain(b.inbox)
		b.inbox = none
	}
}

// wanted reports whether there are subscribers, and forgets the board when there are none:
// who subscribes next makes another.
func (b *board[T]) wanted() bool {
	b.office.mu.Lock()
	defer b.office.mu.Unlock()
	if len(b.subscribers) > 0 {
		return true
	}
	if b.office.boards[b.topic.key.Name()] == any(b) {
		delete(b.office.boards, b.topic.key.Name())
	}
	return false
}

// receive is the inbox: it tells the subscribers here what other nodes publish.
func (b *board[T]) receive() actor.Behavior[T] {
	return func(_ *actor.Context[T], next *actor.Next[T]) {
		next.OnMessage = func(ctx *actor.Context[T], msg T) actor.Behavior[T] {
			subscribers := b.audience()
			if len(subscribers) > 1 {
				extension.NoteBroadcast(ctx.System(), msg)
			}
			if tellAll(subscribers, msg) == 0 {
				extension.DeadLetter(ctx.System(), "topic "+b.topic.Name(), msg, ErrNoSubscribers)
			}
			return nil
		}
	}
}

// audience returns the subscribers of the topic, also when others have come since those of the
// board had gone; but not those of a topic of another type that has its name now.
func (b *board[T]) audience() []subscriber[T] {
	b.office.mu.Lock()
	defer b.office.mu.Unlock()
	if now, same := b.office.boards[b.topic.key.Name()].(*board[T]); same {
		return now.subscribers
	}
	return b.subscribers
}
