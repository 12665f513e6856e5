package delivery

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
)

// An Option changes a producer or a consumer.
type Option func(*settings)

type settings struct {
	window, buffer int
	queue          Queue
}

func settingsOf(opts []Option) settings {
	s := settings{window: 50, buffer: 1000}
	for _, o := range opts {
		o(&s)
	}
	return s
}

// Window is how many messages may be under way to a consumer, or wait in it; the default
// is 50. It panics when n is less than 1.
func Window(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: a window of %d messages", n))
	}
	return func(s *settings) { s.window = n }
}

// Buffer is how many messages may wait in a producer for consumers; the default is 1000.
// It panics when n is less than 1.
func Buffer(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: a buffer of %d messages", n))
	}
	return func(s *settings) { s.buffer = n }
}

// WithQueue stores what a [Producer] accepts, before it is sent. A producer fails when its
// queue does, for instance because a newer producer has taken that over; a restart loads
// it again, and needs another [Connect]. It is not for [WorkPulling].
func WithQueue(q Queue) Option { return func(s *settings) { s.queue = q } }

// A Queue keeps messages until they have been confirmed. A producer calls its methods one
// at a time, Load first; a producer that loads takes the queue over, and calls by the ones
// before it fail from then on. Package persistence/deliveryqueue has one on a journal.
type Queue interface {
	// ID names the stream of messages. It never changes.
	ID() string
	// Load returns up to which number messages have been confirmed, and those that follow.
	Load(ctx context.Context) (confirmed uint64, unconfirmed []actor.Payload, err error)
	// Append stores messages under consecutive numbers, all or none. They follow the last.
	Append(ctx context.Context, first uint64, messages []actor.Payload) error
	// Confirm stores that all messages up to a number have been confirmed.
	Confirm(ctx context.Context, upTo uint64) error
}
