package codec

import "reflect"

// A Decoder decodes values of type T without putting them into an interface.
type Decoder[T any] struct{ k *kind }

// DecoderOf returns the decoder for values that are registered under that name. ok is false if no
// type is, or another one than T, and if T is an interface.
func DecoderOf[T any](name string) (d Decoder[T], ok bool) {
	k, err := kindOf(name)
	return Decoder[T]{k}, err == nil && k.typ == reflect.TypeFor[T]()
}

// Decode decodes data into a zero variable, like [DecodeOwned] if nobody else uses data, and else
// like [DecodeAnd]. After an error the variable may have any value.
func (d Decoder[T]) Decode(data []byte, own bool, into *T, to Binder) error {
	by := reading{unshared.shared, to}
	if own {
		by.shared = half(data)
	}
	return d.k.read(data, reflect.ValueOf(into).Elem(), by)
}
