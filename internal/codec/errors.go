package codec

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// An UnregisteredError says that values of a type cannot be encoded, because it has no name.
type UnregisteredError struct{ Type reflect.Type }

// Error names the type, and the line of code that registers it.
func (e *UnregisteredError) Error() string {
	if e.Type == nil {
		return "nil cannot be encoded by itself, as it has no type"
	}
	return fmt.Sprintf("type %v is not registered; add to an init function: actor.RegisterType[%v](%q)", e.Type, e.Type, "a stable name")
}

// ResultOf and the name of a type are the name of the results of that type, see actor.Result.
const ResultOf = "result of "

// An UnknownNameError says that a type name in encoded data is not registered in this process.
type UnknownNameError struct{ Name string }

// Error names the unknown type, and the line of code that registers it. If another version of the
// type is registered, it names that as well: base/1 and base/2 are versions of one type. The value
// may come from the wire or from a journal.
func (e *UnknownNameError) Error() string {
	if other := otherVersion(e.Name); other != "" {
		return fmt.Sprintf("no type is registered as %q here, only %q: another version of the program has sent or stored it; use a version that knows both, or add to an init function: actor.RegisterType[T](%q)", e.Name, other, e.Name)
	}
	if of, is := strings.CutPrefix(e.Name, ResultOf); is && registered().byName[of] != nil {
		return fmt.Sprintf("%q is a reply, and nothing in this process has asked for one yet; an earlier process at this address may have", e.Name)
	}
	return fmt.Sprintf("no type is registered as %q here; add to an init function: actor.RegisterType[T](%q)", e.Name, e.Name)
}

// otherVersion is "" for none.
func otherVersion(name string) (other string) {
	base, _, ok := cutVersion(name)
	highest := -1
	for known, k := range registered().byName {
		if k.typ.Kind() == reflect.Interface {
			continue
		}
		if b, n, is := cutVersion(known); ok && is && b == base && n > highest {
			other, highest = known, n
		}
	}
	return other
}

// The name ends in a slash and a number.
func cutVersion(name string) (base string, version int, ok bool) {
	i := strings.LastIndexByte(name, '/')
	if i <= 0 {
		return "", 0, false
	}
	version, err := strconv.Atoi(name[i+1:])
	return name[:i], version, err == nil && version >= 0
}

// An EncodeError says that a value cannot be encoded so that decoding returns it.
type EncodeError struct {
	Type reflect.Type
	Path string // of the part that cannot, as it would stand in Go: .Lines[3].Note; empty for the value itself
	Err  error
}

// Error names the type and the path of the field.
func (e *EncodeError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("encode %v: %v", e.Type, e.Err)
	}
	return fmt.Sprintf("encode %v: at %s: %v", e.Type, e.Path, e.Err)
}

// Unwrap returns what is wrong with the part at the path.
func (e *EncodeError) Unwrap() error { return e.Err }

// A DecodeError says that data is not an encoded value of its type.
type DecodeError struct {
	Name string
	Err  error
}

// Error has the name of the type and the text of the decoder's error.
func (e *DecodeError) Error() string { return fmt.Sprintf("decode %s: %v", e.Name, e.Err) }

// Unwrap returns the error of the decoder.
func (e *DecodeError) Unwrap() error { return e.Err }

// An UnknownFormatError says that data was encoded by a codec that this process does not have, or
// has not for that type.
type UnknownFormatError struct {
	Format string
	Type   reflect.Type // of the variable, which may be a part of another
}

// Error names the codec and the type, and the line of code that is missing.
func (e *UnknownFormatError) Error() string {
	return fmt.Sprintf("another version of the program has encoded it by the codec %q, which no type here has; register %v with actor.WithCodec(c), or with actor.WithCodec(nil, c) to go on writing CBOR", e.Format, e.Type)
}
