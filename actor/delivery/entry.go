package delivery

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// An entry is a message that the producer keeps.
type entry[M any] struct {
	msg     M
	payload extension.Payload // of it, once it was needed
	cuts    []int             // where its parts end; nil for what goes in one
	number  uint64            // the producer's, that of its last part; 0 before it has one
	void    bool              // it has been confirmed before; only its number is sent
	refusal error             // why nobody is going to handle it; only its number is sent
	pending bool              // the queue has not stored the refusal
	resent  uint64            // the number of the refused message that it is; 0: it is a new one

	replyTo   actor.ActorRef[Accepted]
	confirmTo actor.ActorRef[Confirmed]
}

// A part is what goes in one message: an entry, or a part of it.
type part[M any] struct {
	of    *entry[M]
	index int
}

// parts is how many numbers e has.
func (e *entry[M]) parts() int { return max(1, len(e.cuts)) }

// first is the number of its first part.
func (e *entry[M]) first() uint64 { return e.number - uint64(e.parts()) + 1 }

// accepted answers whoever waits, once.
func (e *entry[M]) accepted(number uint64) {
	if e.replyTo != (actor.ActorRef[Accepted]{}) {
		e.replyTo.TellNoWait(Accepted{number})
		e.replyTo = actor.ActorRef[Accepted]{}
	}
}

// tell says what has become of the message, once.
func (e *entry[M]) tell(c Confirmed) {
	if e.confirmTo != (actor.ActorRef[Confirmed]{}) {
		e.confirmTo.TellNoWait(c)
		e.confirmTo = actor.ActorRef[Confirmed]{}
	}
}

// confirmed tells whoever wants to know that the message has been handled.
func (e *entry[M]) confirmed() { e.tell(Confirmed{Number: e.number}) }

// refused tells whoever wants to know that nobody is going to handle the message.
func (e *entry[M]) refused() { e.tell(Confirmed{Refused: max(e.number, e.resent), Reason: e.refusal}) }

// cut makes parts of size bytes of a larger one; 0 is never.
func (e *entry[M]) cut(size int) {
	length := len(e.payload.Data)
	if size == 0 || length <= size {
		return
	}
	for end := size; end < length; end += size {
		e.cuts = append(e.cuts, end)
	}
	e.cuts = append(e.cuts, length)
}

// empty reports whether nothing is sent but the number.
func (e *entry[M]) empty() bool { return e.void || e.refusal != nil }

// clear drops the content of what is never sent again.
func (e *entry[M]) clear() {
	var none M
	e.msg, e.payload = none, extension.Payload{}
}

// last reports whether the whole message has been sent with p.
func (p part[M]) last() bool { return p.index == p.of.parts()-1 }

// payload returns what is sent of the payload.
func (p part[M]) payload() extension.Payload {
	whole := p.of.payload
	if len(p.of.cuts) == 0 {
		return whole
	}
	begin := 0
	if p.index > 0 {
		begin = p.of.cuts[p.index-1]
	}
	return extension.Payload{Type: whole.Type, Data: whole.Data[begin:p.of.cuts[p.index]:p.of.cuts[p.index]]}
}

// encode makes e fit to be stored and to go to other nodes.
func (p *producer[M]) encode(e *entry[M]) (err error) {
	if e.payload.Type == "" {
		if e.payload, err = extension.PackMessage(e.msg); err != nil {
			return err
		}
		e.cut(p.partSize())
	}
	size := len(e.payload.Data)
	if most := p.set.most(); most > 0 && size > most {
		return fmt.Errorf("%w: %s needs %d bytes, and MaxBytes of the producer is %d", ErrTooLarge, e.payload.Type, size, most)
	}
	if most := p.carried(); most > 0 && len(e.cuts) == 0 && size > most {
		return fmt.Errorf("%w: %s needs %d bytes, and no more than %d go to another node; ChunkAbove sends it in parts", ErrTooLarge, e.payload.Type, size, most)
	}
	return nil
}

// carried is how many bytes go to another node in one message; 0 is any number.
func (p *producer[M]) carried() int {
	most := extension.MaxMessage(p.ctx.System())
	return most - min(most/2, headroom+len(p.ctx.Self().String()))
}

// headroom is for what goes with the bytes of a message, beside the ref of the producer: among
// others the path of a consumer, of which the transport carries 4 KiB at most.
const headroom = 6 << 10

// partSize is how large parts are; 0 means that there are none.
func (p *producer[M]) partSize() int {
	if most := p.carried(); most > 0 {
		return min(p.set.chunkAbove, most)
	}
	return p.set.chunkAbove
}
