package topic

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/bylabel"
)

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
