package delivery

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
)

// pack is [actor.Pack]; a panic in the encoding of a type is an error.
func pack(v any) (p actor.Payload, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = actor.Payload{}, fmt.Errorf("%w: panic: %v", actor.ErrNotSerializable, r)
		}
	}()
	return actor.Pack(v)
}

// unpack is [actor.Payload.Unpack]; a panic in the decoding of a type is an error.
func unpack(p actor.Payload, s *actor.System) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("%w: panic: %v", actor.ErrNotDecodable, r)
		}
	}()
	return p.Unpack(s)
}
