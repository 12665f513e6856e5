package delivery

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

type entry[M any] struct {
	to      string // the id of its receiver, see ProducerByID; else ""
	msg     M
	payload extension.Payload // of msg, once it is encoded
	cuts    []int             // where its parts end; nil if it goes in one piece
	number  uint64            // of its last part; 0: it has none yet
	void    bool              // it was settled before it was loaded; only its number is sent
	refusal error             // why no worker will handle it; only its number is sent
	pending bool              // the queue has not stored the refusal
	resent  uint64            // the number it had as a refused message; 0: it is new

	metadata extension.Metadata // travels with it; not in the queue

	replyTo   actor.ActorRef[Accepted]
	confirmTo actor.ActorRef[Confirmed]
}

type part[M any] struct {
	of    *entry[M]
	index int
}

func (e *entry[M]) parts() int { return max(1, len(e.cuts)) }

func (e *entry[M]) accepted(number uint64) {
	if e.replyTo != (actor.ActorRef[Accepted]{}) {
		e.replyTo.TellNoWait(Accepted{number})
		e.replyTo = actor.ActorRef[Accepted]{}
	}
}

func (e *entry[M]) tell(c Confirmed) {
	if e.confirmTo != (actor.ActorRef[Confirmed]{}) {
		e.confirmTo.TellNoWait(c)
		e.confirmTo = actor.ActorRef[Confirmed]{}
	}
}

func (e *entry[M]) refused() { e.tell(Confirmed{Refused: max(e.number, e.resent), Reason: e.refusal}) }

// The refused messages in the queue stay.
func (e *entry[M]) notKept(why error) {
	e.accepted(0)
	e.tell(Confirmed{Refused: e.resent, Reason: why})
}

// A size of 0 divides none.
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

func (e *entry[M]) empty() bool { return e.void || e.refusal != nil }

func (p part[M]) last() bool { return p.index == p.of.parts()-1 }

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

func (p *producer[M]) encode(e *entry[M]) (err error) {
	if e.payload.Type == "" {
		if e.payload, err = extension.PackMessage(e.msg); err != nil {
			return err
		}
		e.cut(p.set.partSize())
	}
	size := len(e.payload.Data)
	if most := p.set.most(); most > 0 && size > most {
		return fmt.Errorf("%w: %s needs %d bytes, and MaxBytes of the producer is %d", ErrTooLarge, e.payload.Type, size, most)
	}
	if most := p.set.carried; most > 0 && len(e.cuts) == 0 && size > most {
		return fmt.Errorf("%w: %s needs %d bytes, and no more than %d go to another node; ChunkAbove sends it in parts", ErrTooLarge, e.payload.Type, size, most)
	}
	return nil
}

// A storedPart is the record of one part of a message in a queue.
type storedPart struct {
	_    struct{} `cbor:",toarray"`
	Type string   // of the message
	More bool     // it is not the last part
	Data []byte
}

// A storedTo is the record of one part of a message to a receiver that has an id, in a queue.
type storedTo struct {
	_    struct{} `cbor:",toarray"`
	To   string
	Part storedPart
}

const (
	partName = "understudy.delivery.part"
	toName   = "understudy.delivery.part-to"
)

// to is "" without one. A record that is no part is a whole message.
func partOf(record extension.Payload) (p storedPart, to string, err error) {
	if record.Type != partName && record.Type != toName {
		return storedPart{Type: record.Type, Data: record.Data}, "", nil
	}
	v, err := extension.Unpack(nil, record)
	if err != nil {
		return p, "", err
	}
	if t, is := v.(storedTo); is {
		return t.Part, t.To, nil
	}
	return v.(storedPart), "", nil
}

func join(whole *extension.Payload, record extension.Payload) (more bool, to string, err error) {
	p, to, err := partOf(record)
	if err != nil {
		return false, "", err
	}
	if whole.Type = p.Type; whole.Data == nil {
		whole.Data = p.Data
	} else {
		whole.Data = append(whole.Data, p.Data...)
	}
	return p.More, to, nil
}

// A nil message is stored as a part without content: a record without a type would stand for a
// confirmed message.
func (e *entry[M]) records() []extension.Payload {
	if len(e.cuts) == 0 && e.payload.Type != "" && e.to == "" {
		return []extension.Payload{e.payload}
	}
	records := make([]extension.Payload, e.parts())
	for i := range records {
		p := part[M]{e, i}
		data := p.payload()
		stored := storedPart{Type: data.Type, More: !p.last(), Data: data.Data}
		if e.to == "" {
			records[i], _ = extension.Pack(stored) // nothing of it can fail
		} else {
			records[i], _ = extension.Pack(storedTo{To: e.to, Part: stored})
		}
	}
	return records
}

// Those that are settled are void.
func recall[M any](s *actor.System, l loaded[M]) (entries []*entry[M], err error) {
	e := &entry[M]{}
	for i, record := range l.messages {
		more, err := e.add(s, record)
		if err != nil {
			return nil, err
		}
		if !more {
			e.number = l.settled + uint64(i) + 1
			entries = append(entries, e)
			e = &entry[M]{}
		}
	}
	if len(e.cuts) > 0 {
		return nil, errTorn
	}
	return entries, nil
}

func (e *entry[M]) add(s *actor.System, record extension.Payload) (more bool, err error) {
	if record.Type == "" {
		e.void = true
		return false, nil
	}
	more, e.to, err = join(&e.payload, record)
	if err != nil {
		return false, err
	}
	if record.Type == partName || more || len(e.cuts) > 0 {
		e.cuts = append(e.cuts, len(e.payload.Data))
	}
	if more {
		return true, nil
	}
	return false, e.decode(s)
}

func (e *entry[M]) decode(s *actor.System) error {
	msg, _, err := extension.UnpackMessage[M](s, e.payload)
	e.msg = msg
	return err
}
