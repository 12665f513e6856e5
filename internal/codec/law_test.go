package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/guard"
)

// Types that reflect cannot make, and those that encode themselves in one way or another.
type (
	base    struct{ Name string }
	Base    struct{ Kind string }
	hidden  struct{ inner int } // nothing of it is encoded
	byValue struct{ base }
	byRef   struct{ *base } // decoding cannot set it
	ByRef   struct{ *Base } // it can
	both    struct {
		Base
		Kind string // the Kind of Base is lost
	}
	optionalBase struct {
		Kind string `cbor:",omitempty"`
	}
	EmptyByRef struct{ *optionalBase }
	Optional   optionalBase
	maybe      struct{ *Optional }
	arrayed    struct {
		_ struct{} `cbor:",toarray"`
		*Base
		N int
	}
	sameName struct {
		A int `cbor:"x"`
		B int `cbor:"x"`
	}
	sameNumber struct {
		A int `cbor:"1,keyasint"`
		B int `cbor:"01,keyasint"`
	}
	noNumber struct {
		A int `cbor:"one,keyasint"`
	}
	noText struct {
		A int `cbor:"\xff"`
	}
	node struct {
		Value    string
		Parent   *node
		Children []*node
		By       map[string]*node
		Any      any
	}
	loop    *loop
	level   byte
	yes     bool
	nothing struct{}
	stamped struct {
		time.Time
		Note string
	}
	oneWay   struct{ A, B int }    // encoded by itself, decoded by the library
	wayBack  struct{ A, B int }    // encoded by the library, decoded by itself
	lossy    struct{ A, B int }    // half of it, on purpose
	noisy    struct{ A int }       // another one each time
	panicky  struct{ A int }       // 1: encoding panics; 2: decoding does
	deepOwn  struct{ Depth uint8 } // so many arrays
	wrongOwn struct{ Depth uint8 } // not CBOR
	never    struct{ A int }       // always left out
	shortKey struct{ A, B int }    // two keys are one
)

func (v oneWay) MarshalCBOR() ([]byte, error)      { return cbor.Marshal([]int{v.A, v.B}) }
func (v *wayBack) UnmarshalCBOR(data []byte) error { v.A = 1; return nil }
func (v lossy) MarshalCBOR() ([]byte, error)       { return cbor.Marshal(v.A) }
func (v *lossy) UnmarshalCBOR(data []byte) error   { return cbor.Unmarshal(data, &v.A) }
func (v shortKey) MarshalCBOR() ([]byte, error)    { return cbor.Marshal(v.A) }
func (v *shortKey) UnmarshalCBOR(data []byte) error {
	return cbor.Unmarshal(data, &v.A)
}

var noise int

func (v noisy) MarshalCBOR() ([]byte, error)     { noise++; return cbor.Marshal(noise) }
func (v *noisy) UnmarshalCBOR(data []byte) error { return nil }

func (v panicky) MarshalCBOR() ([]byte, error) {
	if v.A == 1 {
		panic("MarshalCBOR")
	}
	return cbor.Marshal(v.A)
}

func (v *panicky) UnmarshalCBOR(data []byte) error {
	err := cbor.Unmarshal(data, &v.A)
	if v.A == 2 {
		panic("UnmarshalCBOR")
	}
	return err
}

func (v deepOwn) MarshalCBOR() ([]byte, error) {
	return append(bytes.Repeat([]byte{0x81}, int(v.Depth)), 0), nil
}

func (v *deepOwn) UnmarshalCBOR(data []byte) error {
	v.Depth = uint8(len(data) - 1)
	return nil
}

func (v wrongOwn) MarshalCBOR() ([]byte, error)     { return bytes.Repeat([]byte{0x81}, int(v.Depth)), nil }
func (v *wrongOwn) UnmarshalCBOR(data []byte) error { return nil }
func (v never) IsZero() bool                        { return true }

// lawTypes are the leaves of the types of FuzzLaw.
var lawTypes = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int64](), reflect.TypeFor[uint](), reflect.TypeFor[uint8](),
	reflect.TypeFor[uint16](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](),
	reflect.TypeFor[[]byte](), reflect.TypeFor[any](), reflect.TypeFor[error](), reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration](),
	reflect.TypeFor[complex128](), reflect.TypeFor[chan int](), reflect.TypeFor[func()](), reflect.TypeFor[uintptr](),
	reflect.TypeFor[base](), reflect.TypeFor[hidden](), reflect.TypeFor[byValue](), reflect.TypeFor[byRef](), reflect.TypeFor[ByRef](), reflect.TypeFor[both](),
	reflect.TypeFor[EmptyByRef](), reflect.TypeFor[maybe](), reflect.TypeFor[arrayed](), reflect.TypeFor[sameName](), reflect.TypeFor[sameNumber](), reflect.TypeFor[noNumber](), reflect.TypeFor[noText](),
	reflect.TypeFor[node](), reflect.TypeFor[level](), reflect.TypeFor[[]level](), reflect.TypeFor[[3]level](), reflect.TypeFor[yes](), reflect.TypeFor[nothing](), reflect.TypeFor[stamped](),
	reflect.TypeFor[oneWay](), reflect.TypeFor[wayBack](), reflect.TypeFor[lossy](), reflect.TypeFor[noisy](), reflect.TypeFor[panicky](), reflect.TypeFor[deepOwn](), reflect.TypeFor[wrongOwn](), reflect.TypeFor[never](), reflect.TypeFor[shortKey](),
	reflect.TypeFor[big.Int](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[url.URL](),
	reflect.TypeFor[cbor.RawMessage](), reflect.TypeFor[cbor.Tag](), reflect.TypeFor[cbor.RawTag](), reflect.TypeFor[cbor.SimpleValue](), reflect.TypeFor[cbor.ByteString](),
	reflect.TypeFor[order](), reflect.TypeFor[parcel](), reflect.TypeFor[line](),
}

// A maker makes types and values from bytes. Without any left it makes the simplest ones.
type maker struct{ rest []byte }

func (m *maker) byte() byte {
	if len(m.rest) == 0 {
		return 0
	}
	b := m.rest[0]
	m.rest = m.rest[1:]
	return b
}

func (m *maker) below(n int) int { return int(m.byte()) % n }

func (m *maker) uint64() uint64 {
	var b [8]byte
	for i := range m.below(9) {
		b[i] = m.byte()
	}
	return binary.LittleEndian.Uint64(b[:])
}

func (m *maker) typ(depth int) reflect.Type {
	kind := m.below(12)
	if depth == 0 || kind < 4 {
		return lawTypes[m.below(len(lawTypes))]
	}
	switch kind {
	case 4, 5:
		return reflect.SliceOf(m.typ(depth - 1))
	case 6:
		return reflect.ArrayOf(m.below(4), m.typ(depth-1))
	case 7:
		return reflect.PointerTo(m.typ(depth - 1))
	case 8:
		if key := m.typ(depth - 1); key.Comparable() {
			return reflect.MapOf(key, m.typ(depth-1))
		}
		return reflect.MapOf(reflect.TypeFor[string](), m.typ(depth-1))
	}
	var fields []reflect.StructField
	if m.below(4) == 0 {
		fields = append(fields, reflect.StructField{Name: "_", PkgPath: "p", Type: reflect.TypeFor[struct{}](), Tag: `cbor:",toarray"`})
	}
	tags := []reflect.StructTag{"", "", "", `cbor:",omitempty"`, `cbor:",omitzero"`, `cbor:"7,keyasint"`, `cbor:"a"`, `json:"A"`, `cbor:"-"`, `json:"a,omitempty"`}
	for i := range 1 + m.below(4) {
		fields = append(fields, reflect.StructField{Name: string(rune('A' + i)), Type: m.typ(depth - 1), Tag: tags[m.below(len(tags))]})
	}
	return reflect.StructOf(fields)
}

func (m *maker) fill(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		times := []time.Time{
			{},
			time.Unix(int64(m.uint64()), int64(m.uint64()%1e9)), time.Date(int(int16(m.uint64())), 1, 2, 3, 4, 5, m.below(2), time.FixedZone("x", 3600*(m.below(40)-20)+m.below(60))),
			time.Now(), time.Time{}.In(time.FixedZone("x", 3601)), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.FixedZone("w", -3600)), time.Date(0, 1, 1, 0, 0, 0, 0, time.FixedZone("e", 3600)),
		}
		v.Set(reflect.ValueOf(times[m.below(len(times))]))
		return
	case reflect.TypeFor[any]():
		m.fillAny(v, depth)
		return
	case reflect.TypeFor[error]():
		if m.below(2) == 1 {
			v.Set(reflect.ValueOf(errors.New("x")))
		}
		return
	case reflect.TypeFor[big.Int]():
		v.Set(reflect.ValueOf(*new(big.Int).SetBytes(m.bytes())))
		return
	case reflect.TypeFor[netip.Addr]():
		if m.below(2) == 1 {
			v.Set(reflect.ValueOf(netip.MustParseAddr("fe80::1%x\xff")))
		}
		return
	case reflect.TypeFor[cbor.RawMessage](), reflect.TypeFor[[]byte]():
		if m.below(3) > 0 {
			v.SetBytes(m.bytes())
		}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(m.below(2) == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(m.uint64()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(m.uint64())
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1.5, math.NaN(), math.Inf(1), math.Copysign(0, -1), math.Pi, 1e-320, math.Float64frombits(m.uint64())}[m.below(8)])
	case reflect.String:
		v.SetString(string(m.bytes()))
	case reflect.Slice:
		if n := m.below(5); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		}
		m.fillAll(v, depth)
	case reflect.Array:
		m.fillAll(v, depth)
	case reflect.Map:
		n := m.below(5)
		if n == 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range n - 1 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			m.fill(key, depth-1)
			m.fill(value, depth-1)
			if key.Comparable() {
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Pointer:
		if m.below(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			m.fill(v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				m.fill(v.Field(i), depth-1)
			} else if f := v.Type().Field(i); f.Anonymous && f.Type == reflect.TypeFor[*base]() && m.below(2) == 1 {
				reflect.NewAt(f.Type, v.Field(i).Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(&base{"b"}))
			} else if f.Anonymous && f.Type == reflect.TypeFor[base]() {
				m.fill(v.Field(i).Field(0), depth-1)
			}
		}
	}
}

func (m *maker) fillAll(v reflect.Value, depth int) {
	for i := range v.Len() {
		m.fill(v.Index(i), depth-1)
	}
}

func (m *maker) bytes() []byte {
	texts := []string{"", "a", "ünï", "\xff", "a\xc3", string(rune(0xfffd)), "a longer text than that of others, so it is", "\x00"}
	if i := m.below(len(texts) + 1); i < len(texts) {
		return []byte(texts[i])
	}
	b := make([]byte, m.below(8))
	for i := range b {
		b[i] = m.byte()
	}
	return b
}

func (m *maker) fillAny(v reflect.Value, depth int) {
	var in reflect.Value
	switch m.below(8) {
	case 0:
		return
	case 1:
		in = reflect.New(m.typ(1)).Elem()
	case 2:
		in = reflect.New(reflect.TypeFor[[]any]()).Elem()
	case 3:
		in = reflect.New(reflect.TypeFor[map[string]any]()).Elem()
	case 4:
		in = reflect.New(reflect.TypeFor[map[any]any]()).Elem()
	default:
		in = reflect.New([]reflect.Type{reflect.TypeFor[bool](), reflect.TypeFor[int64](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[[]byte]()}[m.below(5)]).Elem()
	}
	m.fill(in, depth-1)
	if !in.IsValid() || in.Kind() == reflect.Interface && in.IsNil() {
		return
	}
	v.Set(in)
}

// show returns a text that values have in common if and only if they are the same in the sense
// of the package.
func show(v reflect.Value) string {
	t := v.Type()
	switch {
	case t == reflect.TypeFor[time.Time]():
		at := v.Interface().(time.Time)
		return fmt.Sprintf("%d.%d", at.Unix(), at.Nanosecond())
	case t == reflect.TypeFor[stamped]():
		s := v.Interface().(stamped)
		return fmt.Sprintf("%d.%d %q", s.Unix(), s.Nanosecond(), s.Note)
	case encodesItself(t) || decodesItself(t):
		data, err := encoding.Marshal(v.Interface())
		if err != nil {
			noise++ // it is like no other
			return fmt.Sprintf("%v %d", err, noise)
		}
		return fmt.Sprintf("%v %x", t, data)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v", t)
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && v.IsNil() {
			return b.String() + "(nil)"
		}
		for i := range v.Len() {
			b.WriteString(", " + show(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			return b.String() + "(nil)"
		}
		var all []string
		for entries := v.MapRange(); entries.Next(); { // a key with a NaN cannot be looked up
			all = append(all, show(entries.Key())+": "+show(entries.Value()))
		}
		slices.Sort(all)
		b.WriteString(strings.Join(all, ", "))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return b.String() + "(nil)"
		}
		return b.String() + show(v.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if !isEncoded(f) {
				continue
			}
			x := v.Field(f.Index[0])
			if text := show(x); !strings.Contains(tagOf(f), ",omit") || !isEmpty(x) && text != show(reflect.Zero(x.Type())) {
				b.WriteString("; " + f.Name + ": " + text)
			}
		}
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		if f == 0 {
			f = 0 // minus nothing
		}
		fmt.Fprintf(&b, "(%v)", f)
	default:
		fmt.Fprintf(&b, "(%q)", fmt.Sprint(v))
	}
	return b.String() + "."
}

// FuzzLaw checks the law of the codec for all types and all values. A value is decoded as the same
// value, or it is refused when it is encoded, with an error that names the type. No value is
// refused that would be decoded unchanged.
func FuzzLaw(f *testing.F) {
	for i := range len(lawTypes) {
		for j := range 3 {
			f.Add([]byte{0, byte(i), byte(j), byte(j), byte(j), byte(j), byte(j), byte(j), 3, 2, 1, 8, 7, 6, 5})
			f.Add([]byte{byte(j + 4), 0, byte(i), byte(j), byte(j), byte(j), byte(j), byte(j), 3, 2, 1, 8, 7, 6, 5})
			f.Add([]byte{9, 1, byte(j), 0, byte(i), byte(j), 0, byte(i + 1), byte(j), 1, 2, 3, 4, byte(j), byte(j), byte(j)})
		}
	}
	for toArray := range 2 { // structs whose only field has the tag "-", and is not zero
		f.Add([]byte{9, byte(toArray), 0, 0, 0, 8, 1})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &maker{data}
		typ := m.typ(3)
		v := reflect.New(typ).Elem()
		m.fill(v, 8)
		if typ.Kind() == reflect.Interface {
			return // it is never the type of a registered value
		}
		obeys(t, &kind{name: "law", typ: typ}, v.Interface())
	})
}

// unconditional are the refusals of what would now and then come back.
var unconditional = []string{" key ", "leave it out", "a big.Int in an interface", "a cbor.", "this codec.stamped"}

func obeys(t *testing.T, k *kind, v any) {
	t.Helper()
	data, err := Encoder{k}.Append(nil, v)
	if err != nil {
		var refused *EncodeError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, k.typ, refused.Type)
		require.NotContains(t, err.Error(), "runtime error")
		if !slices.ContainsFunc(unconditional, func(text string) bool { return strings.Contains(err.Error(), text) }) {
			requireRightlyRefused(t, k, v, err)
		}
		return
	}
	s := k.spare()
	_, err = k.decode(data, *s, unshared)
	require.NoError(t, err, "%#v", v)
	require.Equal(t, show(reflect.ValueOf(v)), show(*s), "%x", data)
}

// requireRightlyRefused checks that the library does not return v.
func requireRightlyRefused(t *testing.T, k *kind, v any, refused error) {
	t.Helper()
	err := guard.Run(func() error {
		data, err := encoding.Marshal(v)
		if err != nil {
			return err
		}
		s := k.spare()
		if err := decoding.Unmarshal(data, s.Addr().Interface()); err != nil {
			return err
		}
		if show(reflect.ValueOf(v)) == show(*s) {
			t.Errorf("%v was refused without need: %v", show(*s), refused)
		}
		return nil
	})
	_ = err
}
