package actor

import (
	"reflect"
	"slices"
	"sync"
)

// An EventStream tells subscribers what is published in one system. It keeps nothing:
// who subscribes later misses what was published before.
type EventStream struct {
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

// UnhandledMessage is published when a behavior has said that a message was not meant
// for it.
type UnhandledMessage struct {
	Recipient string // path
	Message   any
}

// Subscribe tells ref every event of type T that is published from now on; when T is an
// interface, every event that implements it. Subscribing twice is subscribing once. A
// subscription ends with its actor.
func Subscribe[T any](s *System, ref ActorRef[T]) {
	if ref.c == nil {
		panic("actor: cannot subscribe the zero ActorRef")
	}
	tell := func(event any) bool {
		e, ok := event.(T)
		if ok {
			ref.Tell(e)
		}
		return ok
	}
	s.events.add(subscription{event: reflect.TypeFor[T](), subscriber: ref.c, tell: tell})
}

// Unsubscribe ends the subscription of ref to events of type T.
func Unsubscribe[T any](s *System, ref ActorRef[T]) {
	s.events.remove(func(x subscription) bool {
		return x.same(subscription{event: reflect.TypeFor[T](), subscriber: ref.c})
	})
}

// Publish tells event to all who have subscribed to its type. It never blocks.
func (e *EventStream) Publish(event any) {
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

func (e *EventStream) add(s subscription) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.ContainsFunc(e.subscriptions, s.same) {
		e.subscriptions = append(slices.Clip(e.subscriptions), s)
	}
}

func (e *EventStream) remove(match func(subscription) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.subscriptions = slices.DeleteFunc(slices.Clone(e.subscriptions), match)
}
