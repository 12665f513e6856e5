package delivery

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// A storedPart is the record of one part of a message in a queue.
type storedPart struct {
	_    struct{} `cbor:",toarray"`
	Type string   // of the message
	More bool     // it is not the last part
	Data []byte
}

// partName is the type name of a storedPart in queues.
const partName = "understudy.delivery.part"

// join appends a record of a queue to its message, and reports whether more records follow.
func join(whole *extension.Payload, record extension.Payload) (more bool, err error) {
	if record.Type != partName {
		*whole = record
		return false, nil
	}
	v, err := extension.Unpack(nil, record)
	if err != nil {
		return false, err
	}
	p := v.(storedPart)
	whole.Type, whole.Data = p.Type, append(whole.Data, p.Data...)
	return p.More, nil
}

// records returns the records of e, one for each part. A nil message is stored as a part without
// content: a record without a type would stand for a confirmed message.
func (e *entry[M]) records() []extension.Payload {
	if len(e.cuts) == 0 && e.payload.Type != "" {
		return []extension.Payload{e.payload}
	}
	records := make([]extension.Payload, e.parts())
	for i := range records {
		p := part[M]{e, i}
		data := p.payload()
		records[i], _ = extension.Pack(storedPart{Type: data.Type, More: !p.last(), Data: data.Data}) // nothing of it can fail
	}
	return records
}

// recall returns the loaded messages. Those that were confirmed are void.
func recall[M any](s *actor.System, l loaded[M]) (entries []*entry[M], err error) {
	e := &entry[M]{}
	for i, record := range l.messages {
		more, err := e.add(s, record)
		if err != nil {
			return nil, err
		}
		if !more {
			e.number = l.confirmed + uint64(i) + 1
			entries = append(entries, e)
			e = &entry[M]{}
		}
	}
	if len(e.cuts) > 0 {
		return nil, errTorn
	}
	return entries, nil
}

// add appends a record of e, and reports whether more records follow.
func (e *entry[M]) add(s *actor.System, record extension.Payload) (more bool, err error) {
	if record.Type == "" {
		e.void = true
		return false, nil
	}
	more, err = join(&e.payload, record)
	if err != nil {
		return false, err
	}
	if record.Type == partName {
		e.cuts = append(e.cuts, len(e.payload.Data))
	}
	if more {
		return true, nil
	}
	return false, e.decode(s)
}

// decode decodes the message from the payload.
func (e *entry[M]) decode(s *actor.System) error {
	msg, _, err := extension.UnpackMessage[M](s, e.payload)
	e.msg = msg
	return err
}
