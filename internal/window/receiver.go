package window

import (
	"cmp"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/payload"
)

// MaxRefusals is how many refusals one answer has at most.
const MaxRefusals = 100

// A Refusal says that nobody has handled a message, and nobody will.
type Refusal struct {
	_      struct{} `cbor:",toarray"`
	Number uint64
	Reason payload.Error
}

// A Verdict is what the receiver does with a message.
type Verdict uint8

const (
	Known  Verdict = iota // It was received before: answer with Ack.
	Next                  // It is the next one: handle it.
	Gap                   // A message before it is missing: ask for what follows Received.
	Behind                // A message before it is missing, which the sender has been told.
)

// A Receiver knows which messages of a stream were received, and which of these were handled or
// refused. The zero Receiver has received nothing.
type Receiver struct {
	received uint64 // all numbers up to this one
	handled  Numbers
	refused  []Refusal // those that the sender has not acknowledged, in order
	gap      bool      // after received, and the sender was told
}

// Received returns the number up to which all messages were received.
func (r *Receiver) Received() uint64 { return r.received }

// UpTo returns the number up to which all messages were handled or refused.
func (r *Receiver) UpTo() uint64 { return r.handled.UpTo() }

// Refusals returns how many refusals the sender has not acknowledged.
func (r *Receiver) Refusals() int { return len(r.refused) }

// Begin takes the first number that the sender still keeps, which is at least 1: all before it
// were handled or refused, and the sender knows. It reports whether it dropped refusals; more may
// then be told than before.
func (r *Receiver) Begin(first uint64) (dropped bool) {
	r.raise(first - 1)
	known := 0
	for known < len(r.refused) && r.refused[known].Number < first {
		known++
	}
	r.refused = r.refused[known:]
	return known > 0
}

// Take decides what to do with a message.
func (r *Receiver) Take(number uint64) Verdict {
	switch {
	case number <= r.received:
		return Known
	case number == r.received+1:
		r.received, r.gap = number, false
		return Next
	case r.gap:
		return Behind
	}
	r.gap = true
	return Gap
}

// AdvanceTo counts all messages before number as received, though they were lost: their sender does
// not send them again.
func (r *Receiver) AdvanceTo(number uint64) { r.received = max(r.received, number-1) }

// ForgetGap lets the next gap be told, as a new sender does not know of it.
func (r *Receiver) ForgetGap() { r.gap = false }

// Handled notes that a message and all before it were handled or refused.
func (r *Receiver) Handled(number uint64) { r.raise(number) }

// HandledOnly notes that a message was handled or refused, and says nothing of those before it.
func (r *Receiver) HandledOnly(number uint64) {
	r.handled.Add(number)
	r.raise(r.handled.UpTo())
}

func (r *Receiver) raise(upTo uint64) {
	r.handled.AddUpTo(upTo)
	if r.received < r.handled.UpTo() {
		r.received, r.gap = r.handled.UpTo(), false
	}
}

// Refuse keeps the reason why nobody handles a message, for Ack. It counts once Handled or
// HandledOnly includes its number; it does nothing when the number is at or below UpTo.
func (r *Receiver) Refuse(number uint64, reason payload.Error) {
	if number <= r.UpTo() {
		return
	}
	i, known := slices.BinarySearchFunc(r.refused, number, func(o Refusal, n uint64) int { return cmp.Compare(o.Number, n) })
	if !known {
		r.refused = slices.Insert(r.refused, i, Refusal{Number: number, Reason: reason})
	}
}

// Acked returns the number up to which the sender can be told that all messages were handled or
// refused. It is below UpTo when there are more refusals than one answer can have.
func (r *Receiver) Acked() uint64 {
	if len(r.refused) > MaxRefusals {
		return min(r.refused[MaxRefusals].Number-1, r.UpTo())
	}
	return r.UpTo()
}

// Ack returns what the sender is told: the number up to which all messages were handled, except
// those in refused.
func (r *Receiver) Ack() (upTo uint64, refused []Refusal) {
	upTo = r.Acked()
	n := 0
	for n < len(r.refused) && r.refused[n].Number <= upTo {
		n++
	}
	return upTo, slices.Clone(r.refused[:n])
}

// Learn takes the answer of another receiver of the stream.
func (r *Receiver) Learn(upTo uint64, refused []Refusal) {
	for _, o := range refused {
		if o.Number <= upTo {
			r.Refuse(o.Number, o.Reason)
		}
	}
	r.raise(upTo)
}

// Restart forgets the messages that were received and not handled in their turn, and the refusals
// among them. The sender has to send them again.
func (r *Receiver) Restart() {
	// What was received and not handled is lost with the former receiver. If it still counted as
	// received, Take would answer Known to it, and the sender would wait for ever.
	upTo := r.UpTo()
	r.received, r.gap = upTo, false
	r.handled = Numbers{upTo: upTo}
	r.refused = slices.DeleteFunc(r.refused, func(o Refusal) bool { return o.Number > upTo })
}

const (
	maxReasonText  = 512  // bytes of the text of a reason that cross the wire
	maxReasonTyped = 1024 // bytes of the typed errors in it
)

// ReasonOf returns the reason of a refusal for the wire, of at most about 2 KiB. Longer texts are
// cut at 512 bytes. The values of typed errors (errors.As) are left out when they need more than
// 1024 bytes.
func ReasonOf(err error) payload.Error {
	p := payload.PackError(err)
	if len(p.Text) > maxReasonText {
		p.Text = strings.ToValidUTF8(p.Text[:maxReasonText], "") + " ..."
	}
	size := 0
	for _, typed := range p.As {
		size += len(typed.Data)
	}
	if size > maxReasonTyped {
		p.As = nil
	}
	return p
}
