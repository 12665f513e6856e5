package actor

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/understudy-go/understudy/internal/codec"
)

// RegisterType gives T the stable name under which its values cross the wire and lie in
// journals. Call it from an init function, with a name that will never change. Basic
// types, time.Time, time.Duration and common slices and maps of them have names already.
// It panics when the name belongs to another type, the type has another name, or T is
// an interface; and when the name has not 1 to 255 bytes of UTF-8 without control characters.
//
// What is encoded is decoded as the same value, or it is refused when it is encoded, before
// anything is sent or stored, with an error that names the type and the field. Refused are
//
//   - strings that are not UTF-8; use []byte for other bytes;
//   - times outside of the years 0 to 9999, in UTC;
//   - values nested deeper than 64 arrays, maps and structs, so also those that have themselves
//     inside, such as a tree whose nodes point to their parents;
//   - slices, arrays and maps of more than 1,048,576 elements, and values of more than 256 MiB;
//   - in a field of type any, everything but nil, bool, int64, float64, string, []byte, []any and
//     map[string]any: the type is not encoded, so another one would come back;
//   - values in interfaces with methods, channels, functions and complex numbers;
//   - pointers to a nil or to the zero time, embedded pointers to unexported structs, fields that
//     hide others of the same name, fields with the tag `json:"-"` and none of CBOR, and structs
//     without any exported field that are not zero, such as big.Rat and big.Float;
//   - keys of maps that are NaN or pointers, or become equal by being encoded;
//   - values whose methods MarshalCBOR and UnmarshalCBOR, or MarshalBinary and UnmarshalBinary,
//     fail, panic, or do not return what was encoded.
//
// A time comes back as the same instant, in UTC. Fields that are unexported or have the tag
// `cbor:"-"` come back as zero, and so does an empty slice or map with the option omitempty. Two
// pointers to one variable come back as pointers to two. Nothing can refuse a MarshalCBOR that calls
// itself without an end: that ends the process, as any such function does.
func RegisterType[T any](name string) {
	t := reflect.TypeFor[T]()
	codec.Register(name, t, mayHoldRefs(t))
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

// UnmarshalCBOR decodes what MarshalCBOR made. The ref can be used once extension.Unpack
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

func init() { codec.Trust(refuseByThemselves) }

// refuseByThemselves reports whether values of a type are refs or results: their MarshalCBOR
// encodes a text, or by way of the codec, and so refuses what could not be decoded. A struct in
// which one is embedded has the methods of that, but a name of its own.
func refuseByThemselves(t reflect.Type) bool {
	return t.PkgPath() == corePackage && (strings.HasPrefix(t.Name(), "ActorRef[") || strings.HasPrefix(t.Name(), "Result["))
}

// errUnbound is the error of a ref in a payload that was unpacked without a system.
var errUnbound = errors.New("an ActorRef outside of any system")
