// Package protobuf encodes messages, events and states that protoc has generated as protobuf, in
// place of CBOR:
//
//	actor.RegisterType[*shop.Event]("shop.event", actor.WithCodec(protobuf.Codec{}))
//
// A oneof, an Any and fields that this version of the program does not know are kept, on the wire,
// in journals, in snapshots and back. A ref travels as a string field, with [actor.RefText] and
// [actor.Resolve].
//
// The type that is registered is the pointer. An actor of the same node gets the pointer itself, as
// with every pointer: do not change a message that was sent or stored, and change a state in a copy
// that proto.Clone makes.
//
// This package is experimental: a minor release may change it. It is a module of its own.
package protobuf

import (
	"errors"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"

	"github.com/understudy-go/understudy/actor"
)

// A Codec encodes pointers to generated messages as protobuf. Its name in data is "protobuf". Pass
// it to [actor.WithCodec].
//
// Messages whose strings are not UTF-8, and those of proto2 that lack required fields, are refused.
// Equal messages are encoded as equal bytes, by one version of the program.
type Codec struct{}

var _ actor.Codec = Codec{}

// Name returns "protobuf".
func (Codec) Name() string { return "protobuf" }

var errNoMessage = errors.New("it is no proto.Message")

// Marshal returns v, which is a proto.Message, as protobuf.
func (Codec) Marshal(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, errNoMessage
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// Unmarshal decodes data into the message to which *into points. If that is nil, it is a new one.
func (Codec) Unmarshal(data []byte, into any) error {
	v := reflect.ValueOf(into).Elem()
	if v.Kind() == reflect.Pointer && v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	m, ok := reflect.TypeAssert[proto.Message](v)
	if !ok {
		return errNoMessage
	}
	return proto.UnmarshalOptions{Merge: true}.Unmarshal(data, m)
}

// CheckType returns an error unless t is a pointer to a generated message.
func (Codec) CheckType(t reflect.Type) error {
	switch {
	case t.Kind() == reflect.Pointer && t.Implements(reflect.TypeFor[proto.Message]()):
		return nil
	case reflect.PointerTo(t).Implements(reflect.TypeFor[proto.Message]()):
		return fmt.Errorf("register the pointer: actor.RegisterType[*%v]", t)
	}
	return fmt.Errorf("%v is no message that protoc has generated", t)
}
