package delivery

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// A storedPart is what a queue keeps of a message that has parts.
type storedPart struct {
	_    struct{} `cbor:",toarray"`
	Type string   // that of the message
	More bool     // it is not the last part
	Data []byte
}

// partName is the name under which a storedPart lies in queues.
const partName = "understudy.delivery.part"

// join adds a record of a queue to the message that it is of, and reports whether there is
// more of that.
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

// records returns what is stored of e: one for each part. A nil is a part without content, as a
// record without a type stands for what has been confirmed.
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

// recall returns the messages of what has been loaded. Those that have been confirmed are
// void.
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

// add takes what a queue has kept of e, and reports whether there is more.
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

// decode takes the message from the payload.
func (e *entry[M]) decode(s *actor.System) error {
	msg, _, err := extension.UnpackMessage[M](s, e.payload)
	e.msg = msg
	return err
}
