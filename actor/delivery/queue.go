package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// A Queue stores messages until they are settled: confirmed or refused. It keeps refused messages
// until they are removed. Package persistence/deliveryqueue has one on a journal.
//
// A producer calls the methods one at a time, Load first. Load takes the queue over: from then on
// Append and Settle fail for every other value of the same queue. Give each producer a value of
// its own. When a producer restarts, a call that it had begun may still run, with a context that is
// done, while it loads again. List and Remove may be called by any goroutine at any time.
type Queue interface {
	// ID names the stream of messages. It never changes.
	ID() string
	// Load returns the number up to which all messages are settled, and the messages that follow.
	// Among these, a zero Payload stands for a message that is settled already. List has those that
	// were refused; only the others were confirmed.
	Load(ctx context.Context) (settled uint64, unsettled []extension.Payload, err error)
	// Append stores messages under consecutive numbers, after the last one, all or none. An error
	// that wraps [ErrNotStorable] means that one of them can never be stored; any other error
	// fails the producer.
	Append(ctx context.Context, first uint64, messages []extension.Payload) error
	// Settle stores that all messages up to a number, and those with the numbers in beyond, are
	// settled. Refuse has stored those that were refused before.
	Settle(ctx context.Context, upTo uint64, beyond []uint64) error
	// Refuse stores refused messages, for List. A message whose number is stored already stays as
	// it is. An error that wraps [ErrRefusedFull] means that there is no room and none was stored:
	// the producer tries again every 10 s. After any other error some may be stored; it fails the
	// producer.
	Refuse(ctx context.Context, messages []Refused) error
	// List returns the refused messages that were not removed, in the order in which they were
	// refused.
	List(ctx context.Context) ([]Refused, error)
	// Remove deletes refused messages. Numbers that are not stored are ignored.
	Remove(ctx context.Context, numbers ...uint64) error
}

// A Refused is a refused message in a [Queue]. [Resend] sends it again.
type Refused struct {
	Number  uint64              // the number that the message had
	Reason  string              // why it was refused
	Time    time.Time           // when it was refused, by the clock of the producer
	Records []extension.Payload // as given to Append: one for each part of the message
}

// Payload returns the encoded message. It fails only if Records are not what a producer stored.
func (r Refused) Payload() (whole extension.Payload, err error) {
	for _, record := range r.Records {
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
// Otherwise, or if Records are not what a producer stored, it returns "".
func (r Refused) To() string {
	if len(r.Records) == 0 {
		return ""
	}
	_, to, _ := partOf(r.Records[0])
	return to
}

// Message returns the decoded message. It fails with [actor.ErrNotDecodable] if the type of the
// message is not registered in this process, or its content cannot be decoded. Refs in the message
// are bound to s, which may be nil if the message has no refs.
func (r Refused) Message(s *actor.System) (any, error) {
	p, err := r.Payload()
	if err != nil {
		return nil, err
	}
	return extension.Unpack(s, p)
}

// errTorn: some parts of a message are missing in a queue.
var errTorn = errors.New("delivery: the stored message lacks its end")
