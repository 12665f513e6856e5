package delivery

import (
	"fmt"

	"github.com/understudy-go/understudy/internal/naming"
)

// An Option changes a producer or a consumer.
type Option func(*settings)

type settings struct {
	window, buffer int
	giveUpAfter    int
	maxBytes       int
	chunkAbove     int
	loose          bool
	queue          Queue
}

func settingsOf(opts []Option) settings {
	s := settings{window: 50, buffer: 1000}
	for _, o := range opts {
		o(&s)
	}
	return s
}

// defaultMost is how large a message in parts may be, in bytes.
const defaultMost = 64 << 20

// gathered is how large a message in parts may be for a consumer.
func (s *settings) gathered() int {
	if s.maxBytes > 0 {
		return s.maxBytes
	}
	return defaultMost
}

// most is how large a message may be for a producer; 0: as large as goes in one piece.
func (s *settings) most() int {
	if s.maxBytes == 0 && s.chunkAbove > 0 {
		return defaultMost
	}
	return s.maxBytes
}

func (s *settings) validate() {
	if s.loose && (s.queue != nil || s.chunkAbove > 0) {
		panic("delivery: FlowControlOnly sends nothing again, so it goes with neither WithQueue nor ChunkAbove")
	}
}

// Window is how many messages may be under way to a consumer, or wait in it; the default
// is 50. Parts of messages count, see [ChunkAbove], but there is always room for all parts
// of one. It panics when n is less than 1.
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

// GiveUpAfter is at how many failures of the worker a message is given up: it is a dead
// letter with [ErrGivenUp] then, those after it go on, and the sender gets a [Confirmed] that
// says so. By default none ever is, and a message at which the worker always fails is in the
// way of those after it; so the supervision of the worker should have a backoff. It panics when
// n is less than 1.
func GiveUpAfter(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: to give up after %d failures", n))
	}
	return func(s *settings) { s.giveUpAfter = n }
}

// FlowControlOnly is for messages that may be lost, but must not come faster than they are
// handled: they are sent once, and not kept. What the network loses, or a consumer has when
// it ends, is not sent again.
func FlowControlOnly() Option { return func(s *settings) { s.loose = true } }

// ChunkAbove sends messages that need more than n bytes in parts of at most n, each with a
// number and in the window; the consumer puts them together. The number of the message is
// that of its last part. Messages are encoded when they are taken then, also for consumers
// on the same node. A message may need up to [MaxBytes], 64 MiB by default. It panics when n is
// less than 1.
func ChunkAbove(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: parts of %d bytes", n))
	}
	return func(s *settings) { s.chunkAbove = n }
}

// MaxBytes is how large a message may be that is stored, goes to another node or goes in
// parts, in bytes; a larger one is refused with [ErrTooLarge], and those after it go on. The
// default is 64 MiB with [ChunkAbove], and without it 6 KiB and the path of the producer less than
// the transport carries at once: see cluster.Traffic.
//
// For a consumer it is how many bytes it gathers of a message that comes in parts, 64 MiB by
// default; a larger one is refused there, and its dead letter is without content. A producer
// that may send more than 64 MiB therefore needs consumers with the same MaxBytes. It panics
// when n is less than 1.
func MaxBytes(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: messages of at most %d bytes", n))
	}
	return func(s *settings) { s.maxBytes = n }
}

// WithQueue stores what a producer accepts, before it is sent. A producer fails when its
// queue does, for instance because a newer producer has taken that over; a restart loads
// it again, and needs another [Connect].
//
// It panics when the ID of the queue is no name: 1 to 255 bytes of UTF-8 without control
// characters.
func WithQueue(q Queue) Option {
	if q != nil {
		if err := naming.Check(q.ID()); err != nil {
			panic(fmt.Sprintf("delivery: the ID %q of a queue %v", q.ID(), err))
		}
	}
	return func(s *settings) { s.queue = q }
}
