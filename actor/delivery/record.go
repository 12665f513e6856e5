package delivery

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

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
