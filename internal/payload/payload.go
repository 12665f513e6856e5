// Package payload encodes messages, events, states and errors, for the wire and for journals.
// Package actor builds on it; extensions use it by way of package internal/extension.
package payload

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/internal/codec"
)

// The reasons why a value cannot be encoded or decoded. Package actor exports both.
var (
	ErrNotSerializable = errors.New("actor: message cannot be encoded")
	ErrNotDecodable    = errors.New("actor: message cannot be decoded")
)

// A Payload is an encoded message, event or state.
type Payload struct {
	_    struct{} `cbor:",toarray"`
	Type string   // the name that RegisterType gave the type
	Data []byte   // CBOR; what a codec of the type has encoded is in it
}

// A Binder binds the actor refs in a decoded value to a system.
type Binder = codec.Binder

// Pack encodes v. Its errors wrap [ErrNotSerializable].
func Pack(v any) (Payload, error) {
	name, data, err := codec.Encode(v)
	if err != nil {
		return Payload{}, fmt.Errorf("%w: %w", ErrNotSerializable, err)
	}
	return Payload{Type: name, Data: data}, nil
}

// Unpack decodes p; the zero Payload is nil. Its errors wrap [ErrNotDecodable].
func Unpack(p Payload, to Binder) (any, error) { return unpack(p, to, codec.DecodeAnd) }

// UnpackOwned is like [Unpack] for data that nobody else uses or changes: the value may share its
// memory.
func UnpackOwned(p Payload, to Binder) (any, error) {
	return unpack(p, to, codec.DecodeOwned)
}

func unpack(p Payload, to Binder, decode func(string, []byte, Binder) (any, error)) (any, error) {
	if p.Type == "" && len(p.Data) == 0 {
		return nil, nil
	}
	v, err := decode(p.Type, p.Data, to)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotDecodable, err)
	}
	return v, nil
}

// As returns msg as an M. A nil msg is the zero M if M is an interface.
func As[M any](msg any) (m M, ok bool) {
	if msg == nil {
		return m, reflect.TypeFor[M]().Kind() == reflect.Interface
	}
	m, ok = msg.(M)
	return m, ok
}

// TypeName describes the type of msg in an error text: "a string", or "a nil".
func TypeName(msg any) string {
	if msg == nil {
		return "a nil"
	}
	return fmt.Sprintf("a %T", msg)
}
