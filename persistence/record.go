package persistence

import (
	"fmt"
	"reflect"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// request makes events one atomic append after what e has stored so far.
func (e *entity[M, E, S]) request(events []E) (AppendRequest, error) {
	req := AppendRequest{ID: e.id, Epoch: e.epoch, Prev: e.seq, Records: make([]Record, len(events))}
	now := time.Now().UTC()
	for i, event := range events {
		p, err := actor.Pack(event)
		if err != nil {
			return AppendRequest{}, err
		}
		req.Records[i] = Record{
			Seq: e.seq + uint64(i) + 1, Epoch: e.epoch, Writer: e.writer, Time: now,
			Type: p.Type, Payload: p.Data,
		}
		if e.tags != nil {
			req.Records[i].Tags = e.tags(event)
		}
	}
	return req, nil
}

// unpack decodes an event or a state.
func unpack[T any](s *actor.System, typ string, payload []byte) (v T, err error) {
	if err := checkEncoded(payload); err != nil {
		return v, err
	}
	x, err := actor.Payload{Type: typ, Data: payload}.Unpack(s)
	if err != nil {
		return v, err
	}
	v, ok := x.(T)
	if !ok {
		return v, fmt.Errorf("stored is a %T, not a %v", x, reflect.TypeFor[T]())
	}
	return v, nil
}
