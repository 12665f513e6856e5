package topic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/bylabel"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/peers"
)

// ErrNoSubscribers: the topic has no subscriber, which may be normal. Otherwise check its name, and
// whether the actor subscribes before messages are published.
var ErrNoSubscribers = errors.New("topic: nobody has subscribed")

// ErrOutside: the message was published on a client of a cluster, which has no part in topics. Let
// an actor of the cluster publish it.
var ErrOutside = errors.New("topic: a client cannot publish")

func init() {
	actor.RegisterError("understudy/topic.no-subscribers", ErrNoSubscribers)
	actor.RegisterError("understudy/topic.outside", ErrOutside)
}

// A Topic names the subscribers to which messages of type T are published. Make one with [New];
// equal Topics are the same topic, on all nodes. All methods may be called by any goroutine.
type Topic[T any] struct{ key receptionist.ServiceKey[T] }

// New returns the topic with a name. It panics unless the name has 1 to 255 bytes of UTF-8 without
// control characters.
func New[T any](name string) Topic[T] {
	if err := naming.Check(name); err != nil {
		panic(fmt.Sprintf("topic: the name %q of a topic %v", name, err))
	}
	return Topic[T]{receptionist.NewKey[T](prefix + name)}
}

// prefix keeps topics apart from the services of users, in the receptionist.
const prefix = "topic:"

// Name returns the name of the topic.
func (t Topic[T]) Name() string { return t.key.Name()[len(prefix):] }

// Publish sends msg to all subscribers, on all nodes. It waits neither for other nodes nor for room
// in a blocking mailbox ([actor.Mailbox.Block]); its time grows with the number of subscribers on
// this node. Without any subscriber msg becomes a dead letter with [ErrNoSubscribers], and on a
// client of a cluster with [ErrOutside]. Publish panics if the topic is used with another type of
// messages on this node.
func (t Topic[T]) Publish(s *actor.System, msg T) { t.publish(s, msg, extension.Metadata{}) }

// PublishContext is [Topic.Publish] for a message that continues the trace of ctx, as
// [actor.ActorRef.TellContext] does. The end of ctx prevents nothing.
func (t Topic[T]) PublishContext(ctx context.Context, s *actor.System, msg T) {
	t.publish(s, msg, extension.TraceOf(ctx, s))
}

func (t Topic[T]) publish(s *actor.System, msg T, m extension.Metadata) {
	if why := peers.Outside(s); why != nil {
		extension.DeadLetter(s, "topic "+t.Name(), msg, fmt.Errorf("%w: %w; have an actor of the cluster publish", ErrOutside, why))
		return
	}
	others := t.others(s)
	o := of(s)
	o.published.Of(t.Name()).Add(1)
	subscribers := subscribersOf(o, t)
	if len(subscribers)+len(others) > 1 {
		extension.NoteBroadcast(s, msg)
	}
	d := extension.Described[T]{Message: msg, Metadata: m}
	told := tellAll(subscribers, d)
	for _, i := range others {
		extension.TellWith(i.Ref, msg, m)
	}
	if told+len(others) == 0 {
		extension.DeadLetter(s, "topic "+t.Name(), msg, ErrNoSubscribers)
	}
}

// Subscribe sends ref every message that is published from now on, until its actor ends or cancel
// is called. A message that is published on this node after cancel has returned does not reach ref.
// cancel may be called more than once.
//
// Subscribing a ref twice has the effect of once, and either cancel ends the subscription. Each
// [actor.Adapt] makes another ref, so an actor that subscribes one whenever it starts cancels the
// subscription when it restarts:
//
//	ctx.Defer(prices.Subscribe(ctx.System(), actor.Adapt(ctx, wrap)))
//
// Subscribe panics if the topic is used with another type of messages on this node, if ref is not
// an actor of this node, and on a client of a cluster.
func (t Topic[T]) Subscribe(s *actor.System, ref actor.ActorRef[T]) (cancel func()) {
	if why := peers.Outside(s); why != nil {
		panic(fmt.Sprintf("topic: cannot subscribe %q to %q: %v; have an actor of the cluster subscribe, and tell it on", ref.Path(), t.Name(), why))
	}
	if !extension.Owns(s, ref) {
		panic(fmt.Sprintf("topic: cannot subscribe %q to %q: it is no actor of this node; subscribe it on its own", ref.Path(), t.Name()))
	}
	t.others(s) // panics on another type
	o := of(s)
	cancel = sync.OnceFunc(func() { t.unsubscribe(s, ref) })
	if b, added := subscribe(o, t, ref); added {
		o.registrar.Tell(b)
		b.await(ref, extension.AfterEnd(s, ref, cancel))
	}
	return cancel
}

func (t Topic[T]) unsubscribe(s *actor.System, ref actor.ActorRef[T]) {
	o := of(s)
	if b, stop, removed := unsubscribe(o, t, ref); removed {
		if stop != nil {
			stop()
		}
		o.registrar.Tell(b)
	}
}

// Stats are the numbers that a node knows of a topic.
type Stats struct {
	Subscribers int // on this node
	Nodes       int // nodes that have subscribers, this one included
}

// Stats returns how many subscribers this node has, and how many nodes have any.
func (t Topic[T]) Stats(s *actor.System) Stats {
	st := Stats{Nodes: len(t.others(s)), Subscribers: len(subscribersOf(of(s), t))}
	if st.Subscribers > 0 {
		st.Nodes++
	}
	return st
}

func (t Topic[T]) others(s *actor.System) (others []receptionist.Instance[T]) {
	for _, i := range receptionist.Find(s, t.key).Instances {
		if !i.Local {
			others = append(others, i)
		}
	}
	return others
}

type subscribed interface {
	name() string
	count() int
}

func (b *subscriptions[T]) name() string { return b.topic.Name() }

// topics.mu is held.
func (b *subscriptions[T]) count() int { return len(b.subscribers) }

func (o *topics) families() []telemetry.Family {
	published := telemetry.NewCounter("understudy_topic_published_total", "Messages that were published to a topic on this node.", "topic")
	for name, n := range o.published.All() {
		published.Add(float64(n.Load()), name)
	}
	var subscribers bylabel.Map[int]
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, b := range o.byName {
		*subscribers.Of(b.name()) += b.count()
	}
	all := telemetry.NewGauge("understudy_topic_subscribers", "Subscribers of a topic on this node.", "topic")
	for name, n := range subscribers.All() {
		all.Add(float64(*n), name)
	}
	return []telemetry.Family{published, all}
}

type counters = bylabel.Map[atomic.Uint64]
