package codec

import "reflect"

// A Decoder decodes values of type T without putting them into an interface.
type Decoder[T any] struct{ k *kind }

// DecoderOf returns the decoder for values that are registered under that name. ok is false if no
// type is, or another one than T.
func DecoderOf[T any](name string) (d Decoder[T], ok bool) {
	k := registered().byName[name]
	return Decoder[T]{k}, k != nil && k.typ == reflect.TypeFor[T]()
}

// Decode decodes data into a zero variable, like [DecodeOwned] if nobody else uses data, and else
// like [DecodeAnd]. After an error the variable may have any value.
func (d Decoder[T]) Decode(data []byte, own bool, into *T, adjust func(reflect.Value) error) error {
	shared := unshared
	if own {
		shared = half(data)
	}
	v := reflect.ValueOf(into).Elem()
	if err := d.k.decode(data, v, shared); err != nil {
		return &DecodeError{Name: d.k.name, Err: err}
	}
	if d.k.adjust {
		return adjust(v)
	}
	return nil
}
