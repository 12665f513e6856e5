package plan

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
)

func init() { actor.RegisterType[SingletonSpec]("understudy/placement.singleton-spec/1") }

// EncodeSingletonSpec returns the form in which a source of generations keeps s. It has a version.
func EncodeSingletonSpec(s SingletonSpec) ([]byte, error) {
	p, err := extension.Pack(s)
	if err != nil {
		return nil, err
	}
	return codec.Marshal(p)
}

// DecodeSingletonSpec is the inverse of [EncodeSingletonSpec]. If another version of the program
// has stored data in a form that this one does not know, the error names both versions.
func DecodeSingletonSpec(data []byte) (SingletonSpec, error) {
	var p extension.Payload
	if err := codec.Unmarshal(data, &p); err != nil {
		return SingletonSpec{}, err
	}
	v, err := extension.Unpack(nil, p)
	if err != nil {
		return SingletonSpec{}, err
	}
	s, ok := v.(SingletonSpec)
	if !ok {
		return SingletonSpec{}, &codec.UnknownNameError{Name: p.Type}
	}
	return s, nil
}
