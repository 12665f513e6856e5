package jetstream

import (
	"context"
	"errors"
	"time"

	js "github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/journal"
)

// consumerPatience is how long the next message of a consumer may take. Its server may be gone
// without a word.
const consumerPatience = requestPatience / 2

var errGap = errors.New("jetstream: the consumer has sent a message that has not arrived")

// many reads up to end with consumers. The ordered consumer of nats.go is not used: after the loss
// of its server it makes another one for up to ten seconds, whatever its context. Here a consumer
// that falls silent is replaced by one that starts after the last message; a server that has just
// come back may forget its consumers once more.
func (r *eventReader) many(ctx context.Context, end message) error {
	for n := 1; ; n++ {
		silent, err := r.consumed(ctx, end)
		if !silent || n == attempts || ctx.Err() != nil {
			return err
		}
	}
}

// consumed reads with one consumer. silent means that the consumer has failed, and not a message.
func (r *eventReader) consumed(ctx context.Context, end message) (silent bool, err error) {
	messages, err := r.j.consume(ctx, r.q.Slices, r.from.at, end)
	if err != nil {
		return false, err
	}
	defer messages.Stop()
	for n := uint64(1); ; n++ {
		m, err := messages.Next(js.NextContext(ctx))
		if err != nil {
			return true, unavailable(ctx, err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return false, err
		}
		if meta.Sequence.Consumer != n {
			return true, unavailable(ctx, errGap)
		}
		at := meta.Sequence.Stream
		if at > end.at {
			return false, nil
		}
		if err := r.message(ctx, message{subject: m.Subject(), at: at, data: m.Data()}); err != nil || at == end.at {
			return false, err
		}
		r.from = offset{at: at + 1}
	}
}

// consume starts a consumer for the messages of part from the one at from on. It also includes the
// message at the end, so that the reader knows when it has seen all, even from a lagging replica.
func (j *Journal) consume(ctx context.Context, part journal.SliceRange, from uint64, end message) (js.MessagesContext, error) {
	config := js.ConsumerConfig{
		DeliverPolicy: js.DeliverByStartSequencePolicy, OptStartSeq: from, AckPolicy: js.AckNonePolicy,
		InactiveThreshold: time.Minute, Replicas: 1, MemoryStorage: true,
	}
	if filters := j.subjects.filters(part, end.subject); len(filters) == 1 {
		config.FilterSubject = filters[0]
	} else {
		config.FilterSubjects = filters
	}
	var consumer js.Consumer
	err := j.inbox.again(ctx, func(patience time.Duration) (err error) {
		wait, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		consumer, err = j.streams[j.events].CreateConsumer(wait, config)
		return err
	})
	if err != nil {
		return nil, err
	}
	messages, err := consumer.Messages(js.PullMaxMessages(500), js.PullHeartbeat(consumerPatience/2)) // Next waits for two
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	return messages, nil
}
