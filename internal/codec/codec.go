// Package codec turns Go values into CBOR under stable type names, and back. It is the
// only package that imports a CBOR library.
//
// An encoded value can be decoded, and is then the same value. Any other value is refused when it
// is encoded, with an [*EncodeError] that names the type and the field. So nothing is stored or
// sent that cannot be read again.
//
// Before a value is encoded, a walk over it finds strings that are not UTF-8, times without a text,
// values that are too deep, too large or contain themselves, and values that an interface would
// lose. The walk is free for types that cannot have such values. Values of types with encoding
// methods of their own, and of other types for which the walk is not sufficient, are decoded again
// and compared.
//
// The same value means:
//
//   - a time is the same instant, in UTC and without a monotonic reading;
//   - unexported fields and those with the tag "-" are zero;
//   - a field with the option omitempty or omitzero that is left out is the zero value, so an
//     empty slice or map there is nil; elsewhere nil and empty differ;
//   - each pointer points to a value of its own: two pointers to one variable become pointers to
//     two;
//   - a value of a type with MarshalCBOR or MarshalBinary is the same if it is encoded as the same
//     bytes.
//
// An interface without methods may contain nil, bool, int64, float64, string, []byte, []any and
// map[string]any; the last two contain the same types again. Other types are refused there, because
// their type is not encoded with the value, so another type would come back. An interface with
// methods must be nil.
//
// A struct with the option toarray is an array of its fields, in their order. A program that has
// fewer fields than the array has elements ignores the rest, and one that has more fields gets zero
// for them. So fields may be appended to such a struct, and nothing else may be changed in it.
// Data is refused that lacks so many fields that with a null for each it has more than 8 times its
// size and 64 KiB. A struct that is encoded as n bytes may therefore get at least 7n more fields.
//
// A type may have a [Format] in place of CBOR. Its values are items with a tag that contain the
// name of the format and its bytes, wherever they are in other values. The format answers for them.
//
// A panic in a method of a value is returned as an error. A method that recurses without end is the
// one fault that cannot be caught: it overflows the stack of the process.
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

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/naming"
)

// encoding is deterministic (RFC 8949, 4.2), so that equal values are equal bytes. decoding is
// bounded, because its input comes from the network and from disks.
var (
	encoding = must(encOptions().UserBufferEncMode())
	decoding = must(decOptions(maxElements).DecMode())
	brief    = must(decOptions(MaxBrief).DecMode())
)

// MaxBrief is how many elements an array or a map may have for [UnmarshalBrief].
const MaxBrief = 10_000

func decOptions(elements int) cbor.DecOptions {
	return cbor.DecOptions{
		MaxNestedLevels:  MaxDepth,
		MaxArrayElements: elements,
		MaxMapPairs:      elements,
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		IntDec:           cbor.IntDecConvertSignedOrBigInt,
		DefaultMapType:   reflect.TypeFor[map[string]any](),
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

// Marshal returns v as CBOR. It fails with [*EncodeError].
func Marshal(v any) ([]byte, error) {
	if v == nil {
		return []byte{simpleNull}, nil
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer keep(buf)
	if err := shapeOf(reflect.TypeOf(v)).encode(buf, v); err != nil {
		return nil, err
	}
	return bytes.Clone(buf.Bytes()), nil
}

// Unmarshal decodes data, which must be exactly one CBOR value, into the variable that v points to.
func Unmarshal(data []byte, v any) error { return unmarshal(decoding, data, v) }

// UnmarshalBrief is Unmarshal with at most [MaxBrief] elements in an array or a map. An element of
// one byte can become a value of some hundred bytes before the elements can be counted.
func UnmarshalBrief(data []byte, v any) error { return unmarshal(brief, data, v) }

func unmarshal(mode cbor.DecMode, data []byte, v any) error {
	if len(data) > MaxSize {
		return errSize
	}
	return guard.Run(func() error { return unmarshalFitting(mode, data, v) })
}

type kind struct {
	name    string
	typ     reflect.Type
	bound   bool     // see Register
	formats *formats // nil for CBOR alone
	made    atomic.Pointer[analysis]
	spares  sync.Pool // of *reflect.Value: a value is decoded into one and then copied
}

type analysis struct {
	plan  *plan // nil for a type without one
	shape *shape
}

// analysis is made when it is first needed: then all types are registered. Two goroutines may make
// it at the same time.
func (k *kind) analysis() *analysis {
	if a := k.made.Load(); a != nil {
		return a
	}
	k.made.CompareAndSwap(nil, &analysis{planOf(k.typ), shapeOf(k.typ)})
	return k.made.Load()
}

func (k *kind) plan() *plan { return k.analysis().plan }

func (k *kind) shape() *shape { return k.analysis().shape }

func (k *kind) spare() *reflect.Value {
	if s, ok := k.spares.Get().(*reflect.Value); ok {
		return s
	}
	v := reflect.New(k.typ).Elem()
	return &v
}

// Init functions write it, and every message reads it, on all processors at once. It is therefore
// replaced as a whole, and read without a lock.
var registry struct {
	sync.Mutex // makes Register take turns
	kinds      atomic.Pointer[kinds]
}

// kinds are never changed.
type kinds struct {
	byName  map[string]*kind
	byType  map[reflect.Type]*kind
	formats map[string]Format // of all types
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

// Register gives t the name of its values on the wire and in journals. bound says whether
// [DecodeAnd] has to bind values of t. Register panics if the name or the type is already
// registered with another one; registering the same pair again has no effect. An interface has no
// values of its own: its name is only for [TypeName], and nothing is decoded under it.
func Register(name string, t reflect.Type, bound bool) {
	registerKind(&kind{name: name, typ: t, bound: bound}, nil)
}

func registerKind(k *kind, formats map[string]Format) {
	if err := naming.Check(k.name); err != nil {
		panic(fmt.Sprintf("codec: the name %q of type %v %v", k.name, k.typ, err))
	}
	registry.Lock()
	defer registry.Unlock()
	old := registered()
	if other, ok := old.byName[k.name]; ok && other.typ != k.typ {
		panic(fmt.Sprintf("codec: name %q is taken by type %v, cannot give it to %v", k.name, other.typ, k.typ))
	}
	if other, ok := old.byType[k.typ]; ok && other.name != k.name {
		panic(fmt.Sprintf("codec: type %v is registered as %q already, cannot be %q as well", k.typ, other.name, k.name))
	} else if ok && other.formats.codec() != k.formats.codec() {
		panic(fmt.Sprintf("codec: type %v is registered with %s already, cannot have %s as well", k.typ, other.formats.codec(), k.formats.codec()))
	}
	all := &kinds{byName: map[string]*kind{k.name: k}, byType: map[reflect.Type]*kind{k.typ: k}, formats: old.with(formats)}
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

// Types returns the types that are registered now, by their names.
func Types() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for name, k := range registered().byName {
		types[name] = k.typ
	}
	return types
}

// NameOf returns the name that t was registered under, or is derived.
func NameOf(t reflect.Type) (string, bool) {
	if k := kindFor(t); k != nil {
		return k.name, true
	}
	return "", false
}

// Derive lets f name types that have not been registered, by the names of their parts. They are
// registered when NameOf or an encoder first looks for them, and cannot be decoded before. Derive
// is called once, by an init function.
func Derive(f func(t reflect.Type) (name string, bound, ok bool)) { derive = f }

var derive = func(reflect.Type) (name string, bound, ok bool) { return "", false, false }

func kindFor(t reflect.Type) *kind {
	if k := registered().byType[t]; k != nil || t == nil {
		return k
	}
	name, bound, ok := derive(t)
	if !ok {
		return nil
	}
	if k := registered().byName[name]; k != nil && k.typ != t {
		return nil // somebody has given the name to another type
	}
	Register(name, t, bound)
	return registered().byType[t]
}

// TypeName returns the name by which nodes compare types of messages: the registered one, or else
// the one in Go, with the name of its package. A registered name stays the same when the type in
// Go is renamed or moved.
func TypeName(t reflect.Type) string {
	if name, registered := NameOf(t); registered {
		return name
	}
	return t.String()
}

func kindOf(name string) (*kind, error) {
	k := registered().byName[name]
	switch {
	case k == nil:
		return nil, &UnknownNameError{Name: name}
	case k.typ.Kind() == reflect.Interface:
		return nil, &DecodeError{Name: name, Err: fmt.Errorf("it is the name of the interface %v, which has no values of its own", k.typ)}
	}
	return k, nil
}

// Encode returns the registered name of v's type, and v as CBOR. It fails with [*UnregisteredError]
// if the type has no name, and with [*EncodeError] if decoding would refuse or change the value.
func Encode(v any) (name string, data []byte, err error) {
	e, err := EncoderOf(v)
	if err != nil {
		return "", nil, err
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer keep(buf)
	if size := e.Size(v); size > maxKept { // without a copy
		data, err = e.Append(make([]byte, 0, size+size/16), v)
		return e.Name(), data, err
	}
	data, err = e.Append(buf.AvailableBuffer(), v)
	if err != nil {
		return "", nil, err
	}
	if cap(data) <= maxKept {
		*buf = *bytes.NewBuffer(data)
	}
	return e.Name(), bytes.Clone(data), nil
}

// buffers are empty.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// A larger buffer is not kept for the next value.
const maxKept = 64 << 10

func keep(buf *bytes.Buffer) {
	if buf.Cap() <= maxKept {
		buf.Reset()
		buffers.Put(buf)
	}
}

// An Encoder encodes values of one type. Get one with [EncoderOf].
type Encoder struct{ k *kind }

// EncoderOf returns the encoder of values of the type of v. It fails with [*UnregisteredError].
func EncoderOf(v any) (Encoder, error) {
	if k := kindFor(reflect.TypeOf(v)); k != nil {
		return Encoder{k}, nil
	}
	return Encoder{}, &UnregisteredError{Type: reflect.TypeOf(v)}
}

// Name returns the registered name of the type.
func (e Encoder) Name() string { return e.k.name }

// Size returns about how many bytes the strings in v need that are not in slices of v. v has the
// type of the encoder.
func (e Encoder) Size(v any) int {
	if p := e.k.plan(); p != nil && p.size != nil {
		return p.size(reflect.ValueOf(v))
	}
	return 0
}

// Append appends v as CBOR to buf. v has the type of the encoder. It fails like [Encode].
func (e Encoder) Append(buf []byte, v any) ([]byte, error) {
	if p := e.k.plan(); p != nil && p.encode != nil {
		if data := p.encode(buf, reflect.ValueOf(v)); data != nil && len(data)-len(buf) <= MaxSize {
			return data, nil
		}
	}
	return e.k.shape().append(buf, v)
}

// Decode decodes data that [Encode] has made, as a value of the type that is registered under name.
// It fails with [*UnknownNameError] or [*DecodeError].
func Decode(name string, data []byte) (any, error) {
	return DecodeAnd(name, data, unboundValues{})
}

// A Binder binds what has been decoded to where it belongs: actor refs to a system.
type Binder interface {
	// Bind binds what is in v, a decoded addressable value.
	Bind(v reflect.Value) error
}

// DecodeAnd is like [Decode], and binds the value if its type was registered with bound. It also
// fails with the error of to.
func DecodeAnd(name string, data []byte, to Binder) (any, error) {
	return decodeAnd(name, data, reading{unshared.shared, to})
}

// DecodeOwned is like [DecodeAnd] for data that nobody else uses or changes: a string or a byte
// slice that is at least half of data shares its memory.
func DecodeOwned(name string, data []byte, to Binder) (any, error) {
	return decodeAnd(name, data, reading{half(data), to})
}

// The size from which on data that nothing else uses is shared.
func half(data []byte) int { return max(1, len(data)/2) }

func decodeAnd(name string, data []byte, by reading) (any, error) {
	k, err := kindOf(name)
	if err != nil {
		return nil, err
	}
	s := k.spare()
	if err := k.read(data, *s, by); err != nil {
		return nil, err
	}
	v := s.Interface() // a copy
	s.SetZero()        // what the value points to is its own
	k.spares.Put(s)
	return v, nil
}

func (k *kind) read(data []byte, v reflect.Value, by reading) error {
	bound, err := k.decode(data, v, by)
	switch {
	case err != nil:
		return &DecodeError{Name: k.name, Err: err}
	case k.bound && !bound:
		return by.binder.Bind(v)
	}
	return nil
}

// decode reads all of data. A plan binds what it decodes.
func (k *kind) decode(data []byte, v reflect.Value, by reading) (bound bool, err error) {
	if len(data) > MaxSize {
		return false, errSize
	}
	p := k.plan()
	if p == nil || p.foreign {
		return false, k.decodeBy(p, data, v, by)
	}
	if p.decodeAll(data, v, by) {
		return true, nil
	}
	v.SetZero()
	return false, k.decodeBy(nil, data, v, by)
}

// Without a plan the library decodes. Both call methods of values.
func (k *kind) decodeBy(p *plan, data []byte, v reflect.Value, by reading) error {
	return guard.Run(func() error {
		if p == nil || !p.decodeAll(data, v, by) {
			v.SetZero()
			if err := unmarshalFitting(decoding, data, v.Addr().Interface()); err != nil {
				return err
			}
		}
		return k.shape().accepts(v)
	})
}

type unboundValues struct{}

func (unboundValues) Bind(reflect.Value) error { return nil }

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
