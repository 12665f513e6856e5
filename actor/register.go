package actor

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/naming"
)

// RegisterType gives T the stable name of its values on the wire and in journals. Call it from an
// init function, with a name that never changes. Basic types, time.Time, time.Duration, and common
// slices and maps of them are already registered. [Result] of a registered type needs no name of
// its own: a process that sends one or asks for one knows it. RegisterType panics if the name
// belongs to another type, if T has another name, and if the name does not have 1 to 245 bytes of
// UTF-8 without control characters.
//
// RegisterType also panics, with the line of code to change, if a struct in T has a field that no
// value would keep. Such is a field that is not exported, a function, a channel, a complex number,
// or a field with the tag `json:"-"` and no CBOR tag. If each node may have the field for itself,
// as a cache, say so with the tag `cbor:"-"`, also where it is not exported. Allowed are locks of
// package sync and fields of no size. Types with methods MarshalCBOR or MarshalBinary, types with a
// codec that was registered before, and generated protobuf messages answer for their own fields.
//
// A value is either decoded as the same value or refused by the encoder, before anything is sent or
// stored, with an error that names the type and the field. Refused are
//
//   - strings that are not UTF-8; use []byte for other bytes;
//   - times outside of the years 0 to 9999, in UTC;
//   - values nested deeper than 64 arrays, maps and structs, which includes values that contain
//     themselves, such as a tree whose nodes point to their parents;
//   - slices, arrays and maps of more than 1,048,576 elements, and values of more than 256 MiB;
//   - in a field of type any, everything except nil, bool, int64, float64, string, []byte, []any
//     and map[string]any, because the type is not encoded;
//   - values in interfaces with methods;
//   - pointers to nil or to the zero time, embedded pointers to unexported structs, and fields that
//     hide others with the same name;
//   - map keys that are NaN or pointers, or become equal by encoding;
//   - values whose methods MarshalCBOR and UnmarshalCBOR, or MarshalBinary and UnmarshalBinary,
//     fail, panic, or do not return what was encoded.
//
// A time is decoded as the same instant, in UTC. Fields with the tag `cbor:"-"` are decoded as
// zero, and so is an empty slice or map with the option omitempty. Two pointers to the same
// variable are decoded as pointers to two. A MarshalCBOR that recurses without end ends the
// process, like any such function.
//
// [WithCodec] encodes values in another format than CBOR.
func RegisterType[T any](name string, options ...TypeOption) {
	register(name, reflect.TypeFor[T](), options)
}

func register(name string, t reflect.Type, options []TypeOption) {
	if err := naming.CheckLength(name, naming.MaxLength-len(codec.ResultOf)); err != nil {
		panic(fmt.Sprintf("actor: the name %q of type %v %v", name, t, err))
	}
	if len(options) == 0 {
		mustKeepFields(name, t)
		codec.Register(name, t, mayHoldRefs(t))
		return
	}
	registerFormats(name, t, options)
}

func mustKeepFields(name string, t reflect.Type) {
	if err := codec.CheckFields(t); err != nil {
		panic(fmt.Sprintf("actor: RegisterType[%v](%q): %v", t, name, err))
	}
}

// Nothing generic names results, since that would compile for each type that is registered. A node
// learns the name when it sends the first such result, or the first ref that takes them.
func nameOfResult(t reflect.Type) (name string, bound, ok bool) {
	if t.PkgPath() != corePackage || !t.Implements(resultType) { // not one that embeds a Result
		return "", false, false
	}
	of, ok := codec.NameOf(t.Field(0).Type)
	return codec.ResultOf + of, mayHoldRefs(t), ok
}

var resultType = reflect.TypeFor[interface{ isResult() }]()

// MarshalCBOR encodes the ref as its path and number.
func (r ActorRef[M]) MarshalCBOR() ([]byte, error) {
	if r.c == nil {
		return codec.Marshal("")
	}
	if err := exportable(r.c); err != nil {
		return nil, err
	}
	if r.c.sys != nil {
		r.c.sys.exports.add(r.c)
	}
	return codec.Marshal(r.String())
}

// UnmarshalCBOR is for the framework: a ref that is decoded outside of a message addresses no
// actor.
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

func init() {
	codec.Derive(nameOfResult)
	codec.Trust(refuseByThemselves)
	codec.SetTexts(codec.Texts{Is: isRef, Append: appendRef, Set: setRef})
}

// appendRef appends what MarshalCBOR encodes.
func appendRef(buf []byte, v reflect.Value) []byte {
	c := (*core)(v.Field(0).UnsafePointer()) // of an ActorRef of any type
	if c == nil {
		return buf
	}
	if exportable(c) != nil {
		return nil
	}
	if c.sys != nil {
		c.sys.exports.add(c)
	}
	return c.appendFullString(buf)
}

// setRef is UnmarshalCBOR, and the binding.
func setRef(v reflect.Value, text []byte, to codec.Binder) (ok bool) {
	if len(text) == 0 {
		return true
	}
	b, ok := to.(binder)
	if !ok || b.sys == nil {
		return false
	}
	*(**core)(v.Addr().UnsafePointer()) = b.sys.resolve(string(text)) // of an ActorRef of any type
	return true
}

// The MarshalCBOR of refs and results refuses what could not be decoded. A struct that embeds one
// has its methods, but another name.
func refuseByThemselves(t reflect.Type) bool {
	return t.PkgPath() == corePackage && (strings.HasPrefix(t.Name(), "ActorRef[") || strings.HasPrefix(t.Name(), "Result["))
}

var errUnbound = errors.New("an ActorRef outside of any system")
