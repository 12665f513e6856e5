package actor

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/internal/codec"
)

// RegisterType gives T the stable name under which its values cross the wire and lie in
// journals. Call it from an init function, with a name that will never change. Basic
// types, time.Time, time.Duration and common slices and maps of them have names already.
// It panics when the name belongs to another type, the type has another name, or T is
// an interface.
func RegisterType[T any](name string) {
	t := reflect.TypeFor[T]()
	codec.Register(name, t, mayHoldRefs(t))
}

// A Payload is an encoded message, event or state.
type Payload struct {
	_    struct{} `cbor:",toarray"`
	Type string   // the registered name
	Data []byte   // CBOR
}

// Pack encodes v. Refs inside become reachable from other nodes. Its errors wrap
// [ErrNotSerializable] and say what to do; a panic in a method of v is one.
func Pack(v any) (p Payload, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = Payload{}, fmt.Errorf("%w: %w", ErrNotSerializable, panicError(r))
		}
	}()
	name, data, err := codec.Encode(v)
	if err != nil {
		return Payload{}, fmt.Errorf("%w: %w", ErrNotSerializable, err)
	}
	return Payload{Type: name, Data: data}, nil
}

// Unpack decodes p. Refs inside belong to s, which may be nil when there are none. Its
// errors wrap [ErrNotDecodable] and say what to do.
func (p Payload) Unpack(s *System) (any, error) {
	v, err := codec.DecodeAnd(p.Type, p.Data, func(v reflect.Value) error { return bindValue(s, v) })
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotDecodable, err)
	}
	return v, nil
}

// MarshalCBOR encodes the ref as its path and number.
func (r ActorRef[M]) MarshalCBOR() ([]byte, error) {
	if r.c == nil {
		return codec.Marshal("")
	}
	if r.c.sys != nil {
		r.c.sys.exports.add(r.c)
	}
	return codec.Marshal(r.String())
}

// UnmarshalCBOR decodes what MarshalCBOR made. The ref can be used once [Payload.Unpack]
// has bound it to a system.
func (r *ActorRef[M]) UnmarshalCBOR(data []byte) error {
	var path string
	if err := codec.Unmarshal(data, &path); err != nil {
		return fmt.Errorf("actor ref: %w", err)
	}
	r.c = nil
	if path != "" {
		r.c = newUnbound(path)
	}
	return nil
}

// errUnbound is the error of a ref in a payload that was unpacked without a system.
var errUnbound = errors.New("an ActorRef outside of any system")
