package actor

import (
	"reflect"
	"slices"
	"sync"
)

type eventStream struct {
	mu            sync.RWMutex // guards subscriptions, which is replaced, never changed
	subscriptions []subscription
}

type subscription struct {
	event      reflect.Type
	subscriber *core
	tell       func(event any) (matched bool)
}

func (s subscription) same(as subscription) bool {
	return s.subscriber == as.subscriber && s.event == as.event
}

// UnhandledMessage is the event that a behavior has returned Unhandled for a message.
type UnhandledMessage struct {
	Recipient string // path
	Message   any
}

// Subscribe sends every event of type T that is published from now on to ref; if T is an interface,
// every event that implements it. Events are published by [System.Publish] and not stored.
// Subscribing ref twice to the same type has the effect of subscribing it once. A subscription ends
// with its actor, or by cancel, which may be called repeatedly. Subscribe panics if ref is the zero
// ActorRef.
func Subscribe[T any](s *System, ref ActorRef[T]) (cancel func()) {
	if ref.c == nil {
		panic("actor: cannot subscribe the zero ActorRef")
	}
	tell := func(event any) bool {
		e, ok := event.(T)
		if ok {
			ref.c.impl.deliver(e, entrance{parked: true}) // never encoded
		}
		return ok
	}
	added := subscription{event: reflect.TypeFor[T](), subscriber: ref.c, tell: tell}
	s.events.add(added)
	return func() { s.events.remove(added.same) }
}

func (e *eventStream) publish(event any) {
	e.mu.RLock()
	subscriptions := e.subscriptions
	e.mu.RUnlock()
	ended := false
	for _, s := range subscriptions {
		if s.subscriber.actor().terminated() {
			ended = true
			continue
		}
		s.tell(event)
	}
	if ended {
		e.remove(func(s subscription) bool { return s.subscriber.actor().terminated() })
	}
}

func (e *eventStream) add(s subscription) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.ContainsFunc(e.subscriptions, s.same) {
		e.subscriptions = append(slices.Clip(e.subscriptions), s)
	}
}

func (e *eventStream) remove(match func(subscription) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.subscriptions = slices.DeleteFunc(slices.Clone(e.subscriptions), match)
}
