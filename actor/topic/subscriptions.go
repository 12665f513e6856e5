package topic

import (
	"fmt"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/extension"
)

// Publish and Subscribe read and change it under its lock. The registrar, an actor, registers the
// topics for other nodes.
type topics struct {
	open      sync.Once
	registrar actor.ActorRef[updatable] // gets the subscriptions of a topic when they change

	published counters

	mu     sync.Mutex
	byName map[string]subscribed
}

type updatable interface {
	update(ctx *actor.Context[updatable])
}

func of(s *actor.System) *topics {
	o := extension.Ensure(s, func() *topics { return &topics{byName: map[string]subscribed{}} })
	o.open.Do(func() {
		telemetry.AddSource(s, o.families)
		o.registrar = actor.Spawn(extension.Framework(s), func(_ *actor.Context[updatable], next *actor.Next[updatable]) {
			next.OnMessage = func(ctx *actor.Context[updatable], b updatable) actor.Behavior[updatable] {
				b.update(ctx)
				return nil
			}
		}, "topics")
	})
	return o
}

// While a topic has subscribers, it has an inbox, an actor that is registered for the messages that
// other nodes publish.
type subscriptions[T any] struct {
	topics      *topics
	topic       Topic[T]
	subscribers []subscriber[T]   // guarded by topics.mu; replaced, never changed
	inbox       actor.ActorRef[T] // owned by the registrar
}

type subscriber[T any] struct {
	ref    actor.ActorRef[T]
	cancel func() // stops waiting for its end; nil until that has begun
}

// When the system has ended nothing is to be updated.
func (b *subscriptions[T]) Carried(*actor.System) (string, any, bool) { return "", nil, false }

func subscribersOf[T any](o *topics, t Topic[T]) []subscriber[T] {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b := find(o, t); b != nil {
		return b.subscribers
	}
	return nil
}

// find panics if the topic has another type. o.mu is held.
func find[T any](o *topics, t Topic[T]) *subscriptions[T] {
	found, exists := o.byName[t.key.Name()]
	if !exists {
		return nil
	}
	b, ok := found.(*subscriptions[T])
	if !ok {
		panic(fmt.Sprintf("topic: %q is used with another type of messages on this node; give it another name", t.Name()))
	}
	return b
}

func subscribe[T any](o *topics, t Topic[T], ref actor.ActorRef[T]) (b *subscriptions[T], added bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b = find(o, t); b == nil {
		b = &subscriptions[T]{topics: o, topic: t}
		o.byName[t.key.Name()] = b
	}
	if b.index(ref) >= 0 {
		return b, false
	}
	b.subscribers = append(slices.Clip(b.subscribers), subscriber[T]{ref: ref})
	return b, true
}

func unsubscribe[T any](o *topics, t Topic[T], ref actor.ActorRef[T]) (b *subscriptions[T], cancel func(), removed bool) {
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

// If the subscriber is gone already, cancel is called.
func (b *subscriptions[T]) await(ref actor.ActorRef[T], cancel func()) {
	b.topics.mu.Lock()
	i := b.index(ref)
	if i >= 0 {
		b.subscribers = slices.Clone(b.subscribers)
		b.subscribers[i].cancel = cancel
	}
	b.topics.mu.Unlock()
	if i < 0 {
		cancel()
	}
}

// topics.mu is held.
func (b *subscriptions[T]) index(ref actor.ActorRef[T]) int {
	return slices.IndexFunc(b.subscribers, func(s subscriber[T]) bool { return s.ref == ref })
}

func tellAll[T any](subscribers []subscriber[T], d extension.Described[T]) int {
	for _, each := range subscribers {
		d.To(each.ref)
	}
	return len(subscribers)
}

func (b *subscriptions[T]) update(ctx *actor.Context[updatable]) {
	var none actor.ActorRef[T]
	switch wanted := b.wanted(); {
	case wanted && b.inbox == none:
		b.inbox = actor.Spawn(ctx, b.receive(), "", actor.WithKind(extension.OwnKind))
		receptionist.Register(ctx.System(), b.topic.key, b.inbox)
	case !wanted && b.inbox != none:
		receptionist.Deregister(ctx.System(), b.topic.key, b.inbox)
		ctx.Drain(b.inbox)
		b.inbox = none
	}
}

func (b *subscriptions[T]) wanted() bool {
	b.topics.mu.Lock()
	defer b.topics.mu.Unlock()
	if len(b.subscribers) > 0 {
		return true
	}
	if b.topics.byName[b.topic.key.Name()] == subscribed(b) {
		delete(b.topics.byName, b.topic.key.Name())
	}
	return false
}

func (b *subscriptions[T]) receive() actor.Behavior[T] {
	return func(_ *actor.Context[T], next *actor.Next[T]) {
		next.OnMessage = func(ctx *actor.Context[T], msg T) actor.Behavior[T] {
			subscribers := b.audience()
			if len(subscribers) > 1 {
				extension.NoteBroadcast(ctx.System(), msg)
			}
			if tellAll(subscribers, extension.Describe(ctx, msg)) == 0 {
				extension.DeadLetter(ctx.System(), "topic "+b.topic.Name(), msg, ErrNoSubscribers)
			}
			return nil
		}
	}
}

// The subscribers may belong to newer subscriptions of the topic, but not to a topic of another
// type that has the name now.
func (b *subscriptions[T]) audience() []subscriber[T] {
	b.topics.mu.Lock()
	defer b.topics.mu.Unlock()
	if now, same := b.topics.byName[b.topic.key.Name()].(*subscriptions[T]); same {
		return now.subscribers
	}
	return b.subscribers
}
