package delivery

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/options"
)

// An Option configures a producer or a consumer.
type Option func(*settings)

type settings struct {
	window, buffer int
	attempts       int
	maxBytes       int
	chunkAbove     int
	flowOnly       bool
	queue          store
	forgetAfter    time.Duration
	carried        int // how many bytes one message to another node may have; 0: any number
}

func (s settings) carriedBy(system *actor.System, path string) settings {
	most := extension.MaxMessage(system)
	s.carried = most - min(most/2, headroom+len(path))
	return s
}

// headroom is the room for everything that travels with a message except the ref of the producer.
// That includes the path of a consumer, for which the transport allows at most 4 KiB.
const headroom = 6 << 10

// 0: messages are not divided.
func (s *settings) partSize() int {
	if s.carried > 0 {
		return min(s.chunkAbove, s.carried)
	}
	return s.chunkAbove
}

func settingsOf(opts []Option) settings {
	s := settings{window: 50, buffer: 1000, forgetAfter: 2 * time.Minute}
	options.MustApply("delivery", &s, opts)
	return s
}

const defaultMaxBytes = 64 << 20

func (s *settings) gathered() int {
	if s.maxBytes > 0 {
		return s.maxBytes
	}
	return defaultMaxBytes
}

// 0 is as large as goes in one piece.
func (s *settings) most() int {
	if s.maxBytes == 0 && s.chunkAbove > 0 {
		return defaultMaxBytes
	}
	return s.maxBytes
}

func (s *settings) validate() {
	if s.flowOnly && (s.queue != nil || s.chunkAbove > 0) {
		panic("delivery: FlowControlOnly sends nothing again, so it goes with neither WithQueue nor ChunkAbove")
	}
}

// Window is an option of a consumer: at most n messages are in flight to it or wait in it. The
// default is 50. Each part of a message counts, see [ChunkAbove], but there is always room for all
// parts of one message. It panics if n is less than 1.
func Window(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: a window of %d messages", n))
	}
	return func(s *settings) { s.window = n }
}

// Buffer is an option of a producer: at most n messages wait in it for consumers. The default is
// 1000. With [ProducerByID], at most n messages wait for each receiver, and 100 times as many for
// all of them. It panics if n is less than 1.
func Buffer(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: a buffer of %d messages", n))
	}
	return func(s *settings) { s.buffer = n }
}

// Attempts is an option of a consumer: after n failures of the worker at a message, the message is
// given up. It becomes a dead letter with [ErrGivenUp], the sender gets a [Confirmed]
// with that reason, and the next message follows. By default no message is given up, and one at
// which the worker always fails holds up those after it; the supervision of the worker should
// therefore have a backoff. It panics if n is less than 1.
//
// Failures are counted as long as the consumer lives: supervise the worker inside of it. A consumer
// that ends with the failure, as a sharded entity does, starts to count again.
func Attempts(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: %d attempts at a message; one is the least", n))
	}
	return func(s *settings) { s.attempts = n }
}

// FlowControlOnly is an option of a producer, for messages that may be lost but must not come
// faster than they are handled: each is sent once and not kept. A message that the network loses,
// or that a consumer has when it ends, is not sent again. It cannot be combined with [WithQueue] or
// [ChunkAbove].
func FlowControlOnly() Option { return func(s *settings) { s.flowOnly = true } }

// ChunkAbove is an option of a producer: it sends messages that need more than n bytes in parts of
// at most n bytes, which the consumer puts together. Each part has a number and counts in the
// window; the number of the message is the number of its last part. With it a producer encodes
// messages when it takes them, even for consumers on the same node. A message may need up to
// [MaxBytes], 64 MiB by default. It panics if n is less than 1.
func ChunkAbove(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: parts of %d bytes", n))
	}
	return func(s *settings) { s.chunkAbove = n }
}

// MaxBytes limits the encoded size of a message, in bytes. For a producer it applies to messages
// that are stored, go to another node or go in parts: a larger message is refused with
// [ErrTooLarge], and those after it continue. The default is 64 MiB with [ChunkAbove]. Without it,
// the default is what the transport carries in one message (see cluster.Traffic), less 6 KiB and
// the length of the producer's path.
//
// For a consumer it limits a message that comes in parts, by default to 64 MiB: a larger one is
// refused there, and its dead letter has no content. A producer that sends messages above 64 MiB
// therefore needs consumers with the same MaxBytes. It panics if n is less than 1.
func MaxBytes(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("delivery: messages of at most %d bytes", n))
	}
	return func(s *settings) { s.maxBytes = n }
}

// ForgetAfter is an option of [ProducerByID]: a receiver that has confirmed all its messages is
// forgotten when it gets no other for d, or for up to half as long again. The next message to it
// begins with a window of one, until the receiver has answered. The default is 2 minutes. It panics
// if d is not positive.
func ForgetAfter(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("delivery: to forget receivers after %v", d))
	}
	return func(s *settings) { s.forgetAfter = d }
}

// WithQueue is an option of a producer: it stores each message in q before it sends it. The
// producer fails when q fails, for instance because a newer producer has taken q over. A producer
// that restarts loads q again, and needs another [Connect].
//
// It panics if q is nil, or if its ID is not a name: 1 to 255 bytes of UTF-8 without control
// characters.
func WithQueue(q *Queue) Option {
	if q == nil {
		panic("delivery: WithQueue needs a queue; make one with NewQueue")
	}
	if err := naming.Check(q.ID()); err != nil {
		panic(fmt.Sprintf("delivery: the ID %q of a queue %v", q.ID(), err))
	}
	return func(s *settings) { s.queue = q.stored }
}
