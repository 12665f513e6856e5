package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// A Queue keeps messages until they have been confirmed, and those that were refused until
// somebody removes them. A producer calls its methods one at a time, Load first; a producer
// that loads takes the queue over, and calls of Append and Confirm by those that have another
// value of the same queue fail from then on. Give each producer a value of its own.
// What a producer has begun goes on, with a context that is done, while the same producer loads
// again, after a restart. List and Remove may be called by anybody at any time. Package
// persistence/deliveryqueue has one on a journal.
type Queue interface {
	// ID names the stream of messages. It never changes.
	ID() string
	// Load returns up to which number messages have been confirmed, and those that follow, the
	// zero Payload in place of one that has been confirmed before another.
	Load(ctx context.Context) (confirmed uint64, unconfirmed []extension.Payload, err error)
	// Append stores messages under consecutive numbers, all or none. They follow the last.
	// An error that wraps [ErrNotStorable] says that none is, as one of them cannot be; any
	// other ends the producer.
	Append(ctx context.Context, first uint64, messages []extension.Payload) error
	// Confirm stores that all messages up to a number have been confirmed, and those of beyond,
	// which come after it. Messages that were refused count: Refuse has stored them before.
	Confirm(ctx context.Context, upTo uint64, beyond []uint64) error
	// Refuse stores messages that nobody has handled, for List. One whose number it has already
	// stays as it is. An error that wraps [ErrRefusedFull] says that none is stored, as they have
	// no room: the producer asks again until there is. After any other some may be stored; it ends
	// the producer.
	Refuse(ctx context.Context, messages []Refused) error
	// List returns the messages that were refused and not removed since, in the order in which
	// they were.
	List(ctx context.Context) ([]Refused, error)
	// Remove forgets refused messages. A number that is not there does no harm.
	Remove(ctx context.Context, numbers ...uint64) error
}

// A Refused is a message that nobody has handled, as a [Queue] keeps it. [Resend] sends it
// again.
type Refused struct {
	Number  uint64              // that the message had
	Reason  string              // why it was refused
	Time    time.Time           // when, by the clock of the producer
	Records []extension.Payload // as they were given to Append: one for each part of the message
}

// Payload returns the message as it is encoded. It fails only when Records are not what a
// producer has stored.
func (r Refused) Payload() (whole extension.Payload, err error) {
	for _, record := range r.Records {
		more, err := join(&whole, record)
		if err != nil {
			return extension.Payload{}, err
		}
		if !more {
			return whole, nil
		}
	}
	return extension.Payload{}, errTorn
}

// Message returns the message. It fails with [actor.ErrNotDecodable] when the type of the
// message is not registered in this process, or its content cannot be decoded; s is the system
// whose refs are in it, and may be nil if there are none.
func (r Refused) Message(s *actor.System) (any, error) {
	p, err := r.Payload()
	if err != nil {
		return nil, err
	}
	return extension.Unpack(s, p)
}

// errTorn: the parts of a message in a queue are not complete.
var errTorn = errors.New("delivery: the stored message lacks its end")
