// Package codec turns Go values into CBOR under stable type names, and back. It is the
// only package that imports a CBOR library.
package codec

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// encoding is deterministic (RFC 8949, 4.2), so that equal values are equal bytes;
// decoding is bounded, as its input comes from the network and from disks.
var (
	encoding = must(encOptions().UserBufferEncMode())
	decoding = must(decOptions(maxElements).DecMode())
	brief    = must(decOptions(MaxBrief).DecMode())
)

// maxElements is how many elements an array or a map may have.
const maxElements = 1 << 20

// MaxBrief is how many elements an array or a map may have for [UnmarshalBrief].
const MaxBrief = 10_000

func decOptions(elements int) cbor.DecOptions {
	return cbor.DecOptions{
		MaxNestedLevels:  64,
		MaxArrayElements: elements,
		MaxMapPairs:      elements,
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
	}
}

func encOptions() cbor.EncOptions {
	o := cbor.CoreDetEncOptions()
	o.Time = cbor.TimeRFC3339NanoUTC
	return o
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Marshal returns v as CBOR.
func Marshal(v any) ([]byte, error) { return encoding.Marshal(v) }

// Unmarshal reads one CBOR value from data, all of it, into what v points to.
func Unmarshal(data []byte, v any) error { return decoding.Unmarshal(data, v) }

// UnmarshalBrief is Unmarshal for what has no long arrays and maps. An element of one byte
// can become a value of some hundred bytes, before anybody can count them.
func UnmarshalBrief(data []byte, v any) error { return brief.Unmarshal(data, v) }

// A kind is a type of values that has a name.
type kind struct {
	name   string
	typ    reflect.Type
	adjust bool         // see Register
	plan   func() *plan // made when it is first needed; nil if there is none
	spares sync.Pool    // of *spare: what a value is decoded into before it is copied out
}

// A spare is a zero value of a type, and the pointer to it in the two forms that are needed.
type spare struct {
	value   reflect.Value
	pointer any
}

func (k *kind) spare() *spare {
	if s, ok := k.spares.Get().(*spare); ok {
		return s
	}
	p := reflect.New(k.typ)
	return &spare{value: p.Elem(), pointer: p.Interface()}
}

// registry maps types to their stable names and back. It is written from init functions and
// read with every message, by all processors at once: so it is replaced, and read without a lock.
var registry struct {
	sync.Mutex // makes Register take turns
	kinds      atomic.Pointer[kinds]
}

// kinds are all there are. They are not changed.
type kinds struct {
	byName map[string]*kind
	byType map[reflect.Type]*kind
}

func init() {
	for name, v := range map[string]any{
		"bool": false, "string": "", "bytes": []byte(nil), "time": time.Time{}, "duration": time.Duration(0), "none": struct{}{},
		"int": int(0), "int8": int8(0), "int16": int16(0), "int32": int32(0), "int64": int64(0), "float32": float32(0),
		"uint": uint(0), "uint8": uint8(0), "uint16": uint16(0), "uint32": uint32(0), "uint64": uint64(0), "float64": float64(0),
		"[]string": []string(nil), "[]int": []int(nil), "[]int64": []int64(nil), "[]uint64": []uint64(nil),
		"[]float64": []float64(nil), "map[string]string": map[string]string(nil), "map[string]int": map[string]int(nil),
	} {
		Register(name, reflect.TypeOf(v), false)
	}
}

// Register gives t the name under which its values cross the wire and lie in journals.
// adjust says whether there is anything in its values for [DecodeAnd] to adjust.
// It panics when the name or the type is taken; the same pair again is fine.
func Register(name string, t reflect.Type, adjust bool) {
	if name == "" {
		panic(fmt.Sprintf("codec: empty name for type %v", t))
	}
	if t == nil || t.Kind() == reflect.Interface {
		panic(fmt.Sprintf("codec: %q: register concrete types, not the interface %v", name, t))
	}
	registry.Lock()
	defer registry.Unlock()
	old := registered()
	if k, ok := old.byName[name]; ok && k.typ != t {
		panic(fmt.Sprintf("codec: name %q is taken by type %v, cannot give it to %v", name, k.typ, t))
	}
	if k, ok := old.byType[t]; ok && k.name != name {
		panic(fmt.Sprintf("codec: type %v is registered as %q already, cannot be %q as well", t, k.name, name))
	}
	k := &kind{name: name, typ: t, adjust: adjust, plan: sync.OnceValue(func() *plan { return planOf(t) })}
	all := &kinds{byName: map[string]*kind{name: k}, byType: map[reflect.Type]*kind{t: k}}
	maps.Copy(all.byName, old.byName)
	maps.Copy(all.byType, old.byType)
	registry.kinds.Store(all)
}

func registered() *kinds {
	if all := registry.kinds.Load(); all != nil {
		return all
	}
	return &kinds{}
}

// NameOf returns the name that t was registered under.
func NameOf(t reflect.Type) (string, bool) {
	if k := registered().byType[t]; k != nil {
		return k.name, true
	}
	return "", false
}

// Encode returns the registered name of v's type and v as CBOR.
// It fails with [*UnregisteredError] when the type has no name.
func Encode(v any) (name string, data []byte, err error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer keep(buf)
	if name, err = EncodeTo(buf, v); err != nil {
		return "", nil, err
	}
	return name, bytes.Clone(buf.Bytes()), nil
}

// buffers are what [Encode] encodes into. They are empty.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKept is how large a buffer is kept for the next value.
const maxKept = 64 << 10

func keep(buf *bytes.Buffer) {
	if buf.Cap() <= maxKept {
		buf.Reset()
		buffers.Put(buf)
	}
}

// EncodeTo appends v as CBOR to buf, and returns the registered name of its type. It fails as
// [Encode] does; what is in buf then is of no use.
func EncodeTo(buf *bytes.Buffer, v any) (name string, err error) {
	k := registered().byType[reflect.TypeOf(v)]
	if k == nil {
		return "", &UnregisteredError{Type: reflect.TypeOf(v)}
	}
	if p := k.plan(); p != nil && p.encode != nil {
		buf.Write(p.encode(buf.AvailableBuffer(), reflect.ValueOf(v)))
		return k.name, nil
	}
	if err := encoding.MarshalToBuffer(v, buf); err != nil {
		return "", fmt.Errorf("encode %s: %w", k.name, err)
	}
	return k.name, nil
}

// Decode returns the value that [Encode] made data from, of the type registered under
// name. It fails with [*UnknownNameError] or [*DecodeError].
func Decode(name string, data []byte) (any, error) {
	return DecodeAnd(name, data, func(reflect.Value) error { return nil })
}

// DecodeAnd is Decode with something to be done to the value, which is addressable, before it is
// returned, if its type was registered as one that needs it. It fails with the error of that, too.
func DecodeAnd(name string, data []byte, adjust func(reflect.Value) error) (any, error) {
	k := registered().byName[name]
	if k == nil {
		return nil, &UnknownNameError{Name: name}
	}
	s := k.spare()
	if err := k.decode(data, s); err != nil {
		return nil, &DecodeError{Name: name, Err: err}
	}
	if k.adjust {
		if err := adjust(s.value); err != nil {
			return nil, err
		}
	}
	v := s.value.Interface() // a copy
	s.value.SetZero()        // what the value points to is its own
	k.spares.Put(s)
	return v, nil
}

// decode reads data, all of it, into a spare.
func (k *kind) decode(data []byte, s *spare) error {
	if p := k.plan(); p != nil {
		if p.decodeAll(data, s.value) {
			return nil
		}
		s.value.SetZero()
	}
	return decoding.Unmarshal(data, s.pointer)
}

// UnregisteredError says that values of a type cannot leave the process, and what to do.
type UnregisteredError struct{ Type reflect.Type }

// Error names the type, and the line of code that registers it.
func (e *UnregisteredError) Error() string {
	return fmt.Sprintf("type %v is not registered; add to an init function: actor.RegisterType[%v](%q)", e.Type, e.Type, "a stable name")
}

// UnknownNameError says that a value of a type that this process does not know arrived.
type UnknownNameError struct{ Name string }

// Error names what is unknown, and the line of code that registers it.
func (e *UnknownNameError) Error() string {
	return fmt.Sprintf("no type is registered as %q here; add to an init function: actor.RegisterType[T](%q)", e.Name, e.Name)
}

// DecodeError says that bytes are not a value of the type that they claim to be.
type DecodeError struct {
	Name string
	Err  error
}

// Error names the type, and says what the decoder says.
func (e *DecodeError) Error() string { return fmt.Sprintf("decode %s: %v", e.Name, e.Err) }

// Unwrap returns the error of the decoder.
func (e *DecodeError) Unwrap() error { return e.Err }
