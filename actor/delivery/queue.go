package delivery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/options"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Queue stores the messages that a producer has accepted in a journal, so that the next producer
// with the queue continues with them; see [WithQueue]. Give each producer a value of its own. A
// producer that starts claims the id of the queue, which fences the previous producer: that one
// fails with [persistence.ErrFenced], and its unstored messages become dead letters. While the
// journal is unreachable or full, the producer repeats its requests.
//
// A message that is too large for the journal is refused with [ErrNotStorable]. A message that no
// worker will handle is stored under the id with "/refused" appended before it counts as settled.
// It stays there until it is removed or sent again, even if the producer or the process ends:
//
//	refused, err := queue.List(ctx) // any process may, with NewQueue and the journal
//	producer.Tell(delivery.Resend[Order]{Number: refused[0].Number})
//	err = queue.Remove(ctx, refused[1].Number)
type Queue struct{ stored *journalQueue }

// A QueueOption changes a queue.
type QueueOption func(*Queue)

// MaxRefused sets how many refused messages a queue keeps; the default is 1000. If another message
// is refused while the limit is reached, the producer pauses. It stores no further confirmation,
// logs an error every 10 s, and refuses new messages with [ErrBufferFull] once its buffer is full.
// It continues when messages were removed or sent again. MaxRefused panics if n is less than 1.
func MaxRefused(n int) QueueOption {
	if n < 1 {
		panic(fmt.Sprintf("delivery: to keep %d refused messages", n))
	}
	return func(q *Queue) { q.stored.mostRefused = n }
}

// NewQueue returns a queue that is stored in a journal under id. It does nothing before a producer
// starts with it. NewQueue panics if [journal.ValidateID] does not accept id, or if the journal or
// an option is nil. A producer fails with [persistence.ErrInvalid] if id is so long that id with
// "/refused" appended exceeds [journal.MaxIDLength].
func NewQueue(id string, j persistence.Journal, opts ...QueueOption) *Queue {
	if id == "" || j == nil {
		panic("delivery: a queue needs an id and a journal")
	}
	if err := journal.ValidateID(id); err != nil {
		panic(fmt.Sprintf("delivery: %v", err))
	}
	q := &Queue{&journalQueue{id: id, journal: j, turn: make(chan struct{}, 1), mostRefused: defaultRefused}}
	options.MustApply("delivery", q, opts)
	_, _ = rand.Read(q.stored.writer[:]) // it never fails
	return q
}

// ID returns the id under which the messages are stored.
func (q *Queue) ID() string { return q.stored.id }

// List returns the refused messages that were not removed, by their numbers. It claims nothing, so
// it can be called in any process, by any goroutine. It blocks until the journal has answered, or
// ctx ends.
func (q *Queue) List(ctx context.Context) ([]Refused, error) { return q.stored.List(ctx) }

// Remove deletes refused messages. Numbers that are not stored are ignored. It does not fence the
// producer that has the queue, so it can be called in any process, by any goroutine. It blocks
// until the journal has answered, or ctx ends.
func (q *Queue) Remove(ctx context.Context, numbers ...uint64) error {
	return q.stored.Remove(ctx, numbers...)
}

// A Refused is a refused message in a [Queue]. [Resend] sends it again.
type Refused struct {
	Number  uint64              // the number that the message had
	Reason  string              // why it was refused
	Time    time.Time           // when it was refused, by the clock of the producer
	records []extension.Payload // as given to Append: one for each part of the message
}

// It fails only if the records are not what a producer stored.
func (r Refused) payload() (whole extension.Payload, err error) {
	for _, record := range r.records {
		more, _, err := join(&whole, record)
		if err != nil {
			return extension.Payload{}, err
		}
		if !more {
			return whole, nil
		}
	}
	return extension.Payload{}, errTorn
}

// To returns the id of the receiver, if a producer of [ProducerByID] has stored the message.
// Otherwise, or if the journal does not have what a producer stored, it returns "".
func (r Refused) To() string {
	if len(r.records) == 0 {
		return ""
	}
	_, to, _ := partOf(r.records[0])
	return to
}

// Message returns the decoded message. It fails with [actor.ErrNotDecodable] if the type of the
// message is not registered in this process, or its content cannot be decoded. Refs in the message
// are bound to s, which may be nil if the message has no refs.
func (r Refused) Message(s *actor.System) (any, error) {
	p, err := r.payload()
	if err != nil {
		return nil, err
	}
	return extension.Unpack(s, p)
}

// errTorn: some parts of a message are missing in a queue.
var errTorn = errors.New("delivery: the stored message lacks its end")
