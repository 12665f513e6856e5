package codec

import (
	"errors"
	"net/netip"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// Three versions of a type, to which fields were appended, and what they are part of.
type (
	none struct{} //nolint:unused // it is embedded, as the codec looks into what is

	letter1 struct {
		none          //nolint:unused // as above
		_    struct{} `cbor:",toarray"`
		To   string
	}
	letter2 struct {
		none          //nolint:unused // as above
		_    struct{} `cbor:",toarray"`
		To   string
		At   time.Time
		Meta map[string]int
	}
	letter3 struct {
		_     struct{} `cbor:",toarray"`
		To    string
		At    time.Time
		Meta  map[string]int
		Parts []letter1
		Next  *letter3
		Own   netip.Addr
	}
	bag[T any] struct {
		Name   string
		One    T   `cbor:"1st"`
		Many   []T `json:"all"`
		ByName map[string]T
		ByRef  *T
		Fixed  [2]T
		Other  *bag[T]
	}
)

func bagOf[T any](v T) bag[T] {
	b := bag[T]{Name: "bag", One: v, Many: []T{v, v}, ByName: map[string]T{"a": v}, ByRef: &v, Fixed: [2]T{v, v}}
	b.Other = &bag[T]{One: v}
	return b
}

// decodedAs encodes a value and decodes it as an M, under two names for two versions of one type.
func decodedAs[M any](t *testing.T, v any) M {
	t.Helper()
	data, err := Marshal(v)
	require.NoError(t, err)
	var byUnmarshal M
	require.NoError(t, Unmarshal(data, &byUnmarshal))
	k := &kind{name: "test", typ: reflect.TypeFor[M]()}
	var byKind M
	require.NoError(t, k.read(data, reflect.ValueOf(&byKind).Elem(), reading{unshared.shared, unboundValues{}}))
	require.Equal(t, byUnmarshal, byKind)
	return byKind
}

func TestAProgramIgnoresTheFieldsThatANewerOneHasAppendedToAnArray(t *testing.T) {
	newer := letter2{To: "Ada", At: time.Unix(1, 0).UTC(), Meta: map[string]int{"a": 1}}
	newest := letter3{To: "Ada", At: newer.At, Meta: newer.Meta, Parts: []letter1{{To: "x"}}, Next: &letter3{}, Own: netip.MustParseAddr("1.2.3.4")}
	require.Equal(t, letter1{To: "Ada"}, decodedAs[letter1](t, newer))
	require.Equal(t, newer, decodedAs[letter2](t, newest))
	require.Equal(t, bagOf(letter1{To: "Ada"}), decodedAs[bag[letter1]](t, bagOf(newest)))
	require.Equal(t, []letter1{{To: "Ada"}, {To: "Ada"}}, decodedAs[[]letter1](t, []letter3{newest, newest}))
}

func TestAProgramHasZeroForTheFieldsThatAnOlderOneDoesNotKnow(t *testing.T) {
	require.Equal(t, letter2{To: "Ada"}, decodedAs[letter2](t, letter1{To: "Ada"}))
	require.Equal(t, bagOf(letter3{To: "Ada"}), decodedAs[bag[letter3]](t, bagOf(letter1{To: "Ada"})))
	require.Equal(t, parcel{Data: []byte{1}}, decodedAs[parcel](t, struct {
		_    struct{} `cbor:",toarray"`
		Data []byte
	}{Data: []byte{1}}))
}

// A labelled struct has its fields under all kinds of names, and an embedder has those of others.
type (
	labelled[T any] struct {
		Short   T  `cbor:"s,omitempty"`
		Zero    T  `cbor:"z,omitzero"`
		JSON    T  `json:"j,omitempty"`
		Number  T  `cbor:"7,keyasint"`
		Below   *T `cbor:"-8,keyasint,omitempty"`
		Options T  `cbor:",omitempty"`
	}
	Promoted[T any] struct{ Up, Hidden T }
	Deep[T any]     struct{ Deepest T }
	twice[T any]    struct{ Both T }
	embedder[T any] struct {
		Promoted[T]
		*Deep[T]
		Hidden string
	}
	named[T any] struct {
		Promoted[T] `cbor:"p"`
	}
	row[T any] struct {
		_ struct{} `cbor:",toarray"`
		Promoted[T]
		Last T
	}
)

func labelledOf[T any](v T) labelled[T] { return labelled[T]{v, v, v, v, &v, v} }

func TestTheFieldsOfAStructAreFoundByTheNamesThatTheLibraryGivesThem(t *testing.T) {
	was, is := letter1{To: "Ada"}, letter2{To: "Ada"}
	require.Equal(t, labelledOf(is), decodedAs[labelled[letter2]](t, labelledOf(was)))
	require.Equal(t, labelledOf(was), decodedAs[labelled[letter1]](t, labelledOf(is)))
	require.Equal(t, embedder[letter2]{Promoted[letter2]{Up: is}, &Deep[letter2]{is}, "h"},
		decodedAs[embedder[letter2]](t, embedder[letter1]{Promoted[letter1]{Up: was}, &Deep[letter1]{was}, "h"}))
	require.Equal(t, named[letter2]{Promoted[letter2]{is, is}}, decodedAs[named[letter2]](t, named[letter1]{Promoted[letter1]{was, was}}))
	require.Equal(t, row[letter2]{Promoted: Promoted[letter2]{is, is}, Last: is}, decodedAs[row[letter2]](t, row[letter1]{Promoted: Promoted[letter1]{was, was}, Last: was}))
	require.Equal(t, struct{ TO letter2 }{is}, decodedAs[struct{ TO letter2 }](t, struct{ To letter1 }{was}), "with other capitals")
}

// The library encodes exactly the fields of a layout, in this order.
func TestALayoutHasTheFieldsThatTheLibraryEncodes(t *testing.T) {
	for _, v := range []any{
		labelledOf(1),
		row[int]{},
		embedder[int]{Deep: &Deep[int]{}},
		named[int]{},
		bagOf(1),
		struct {
			twice[int]
			Promoted[twice[int]]
			Both string `cbor:"both"`
		}{},
		struct {
			twice[int]
			Deep[int] `cbor:"Both"`
		}{},
		struct {
			A int `cbor:"x"`
			B int `json:"x"`
			C int `cbor:"-"`
			D int `cbor:"01,keyasint"`
			E int `cbor:"1"`
		}{},
		struct {
			Deep[int]
			Promoted[Deep[int]]
			Other struct{ Deep[string] }
		}{},
	} {
		all := reflect.New(reflect.TypeOf(v)).Elem()
		all.Set(reflect.ValueOf(v))
		for f := range all.Type().Fields() {
			if v := all.Field(f.Index[0]); f.IsExported() && v.Kind() == reflect.Int {
				v.SetInt(1) // so that it is not left out
			}
		}
		data, err := encoding.Marshal(all.Interface())
		require.NoError(t, err)
		major, n, rest, ok := Head(data)
		require.True(t, ok)
		l := layoutOf(all.Type())
		require.Len(t, l.fields, int(n), "%T: %x", v, data)
		for ; n > 0 && major == MajorMap; n-- {
			require.NotNil(t, l.find(rest), "%T: %x", v, rest)
			rest, _ = Skip(rest)
			rest, _ = Skip(rest)
		}
	}
}

func TestAnArrayOfOtherThingsIsStillRefused(t *testing.T) {
	for _, v := range []any{
		[]any{int64(1)},              // a number for the text
		[]any{"Ada", "not a time"},   // another type for a field
		[]any{"Ada", nil, []any{}},   // an array for a map
		map[string]any{"To": "Ada"},  // a map for an array
		[]any{"Ada", nil, nil, true}, // which is no slice, and behind it fields are missing
	} {
		data, err := Marshal(v)
		require.NoError(t, err)
		require.Error(t, Unmarshal(data, new(letter3)), "%v", v)
	}
}

// A letterbox has many fields that an empty array lacks. Some types have methods of their own.
type letterbox struct {
	_          struct{} `cbor:",toarray"`
	A, B, C, D []letter3
	When       time.Time
	Fixed      [100]int
	Own        netip.Addr
	Strict     strict
	Any        any
	ByRef      *strict
}

// A strict value is decoded only from a number.
type strict struct{ n int }

func (s strict) MarshalCBOR() ([]byte, error) { return Marshal(s.n) }

func (s *strict) UnmarshalCBOR(data []byte) error {
	if isNull(data) {
		return errors.New("no number")
	}
	return Unmarshal(data, &s.n)
}

func TestWhatIsMissingIsNull(t *testing.T) {
	data, err := fit(reflect.TypeFor[[]letterbox](), []byte{0x81, 0x80})
	require.NoError(t, err)
	require.Equal(t, []byte{0x81, 0x8a, 0xf6, 0xf6, 0xf6, 0xf6, 0xf6, 0xf6, 0xf6, 0x00, 0xf6, 0xf6}, data, "but what refuses null has its own zero")
	all := []letterbox{{When: time.Now(), Strict: strict{1}}}
	require.NoError(t, Unmarshal([]byte{0x81, 0x80}, &all))
	require.Equal(t, []letterbox{{}}, all)
}

// slicesOf returns the type of slices of a struct that is an array of so many numbers.
func slicesOf(fields int) reflect.Type {
	all := []reflect.StructField{{Name: "_", PkgPath: "p", Type: reflect.TypeFor[struct{}](), Tag: `cbor:",toarray"`}}
	for i := range fields {
		all = append(all, reflect.StructField{Name: "F" + strconv.Itoa(i), Type: reflect.TypeFor[int8]()})
	}
	return reflect.SliceOf(reflect.StructOf(all))
}

// The smallest struct, stored as often as an array can have it, has got many fields since.
func TestManySmallStructsMayGetManyFields(t *testing.T) {
	const many = 100_000
	stored, err := Marshal(reflect.MakeSlice(slicesOf(1), many, many).Interface())
	require.NoError(t, err)
	require.Len(t, stored, 2*many+5)
	now := reflect.New(slicesOf(1 + 14))
	require.NoError(t, Unmarshal(stored, now.Interface()))
	require.Equal(t, many, now.Elem().Len())
	require.True(t, now.Elem().Index(many-1).IsZero())
	require.ErrorContains(t, Unmarshal(stored, reflect.New(slicesOf(1+15)).Interface()), "lacks so many fields")
}

// A short value may get any fields: null takes one byte.
func TestAShortValueMayGetThousandsOfFields(t *testing.T) {
	now := reflect.New(slicesOf(10_000))
	require.NoError(t, Unmarshal([]byte{0x81, 0x81, 7}, now.Interface()))
	require.EqualValues(t, 7, now.Elem().Index(0).FieldByName("F0").Int())
	require.Zero(t, now.Elem().Index(0).FieldByName("F9999").Int())
}

// A short array for each of many structs does not become much more than it was.
func TestWhatIsMissingIsBounded(t *testing.T) {
	effort.Unraced(t)
	data := append(AppendHead(nil, MajorArray, MaxBrief), repeated(0x80, MaxBrief)...)
	var all []letterbox
	require.NoError(t, UnmarshalBrief(data, &all))
	require.Len(t, all, MaxBrief)

	wide := reflect.New(slicesOf(20)).Interface()
	require.ErrorContains(t, UnmarshalBrief(data, wide), "the value of 10003 bytes lacks so many fields of []struct")
	require.ErrorContains(t, UnmarshalBrief(data, wide), "that with them it has more than 145560")
	require.Error(t, UnmarshalBrief(append(AppendHead(nil, MajorArray, MaxBrief+1), repeated(0x80, MaxBrief+1)...), &all))

	data = append(AppendHead(nil, MajorArray, maxElements), repeated(0x80, maxElements)...)
	require.Less(t, testing.AllocsPerRun(1, func() {
		_, err := fit(reflect.TypeFor[[]letterbox](), data)
		require.ErrorContains(t, err, "lacks so many fields")
	}), 100.0)
}

func TestSkipReturnsWhatFollowsAnItem(t *testing.T) {
	for _, v := range []any{nil, true, 1, -1000, "text", []byte("bytes"), 1.5, []any{"a", []any{}}, map[string]any{"k": []any{int64(1)}}, time.Unix(0, 0)} {
		data, err := Marshal(v)
		require.NoError(t, err)
		rest, ok := Skip(append(data, "rest"...))
		require.True(t, ok, "%v", v)
		require.Equal(t, "rest", string(rest), "%v", v)
		for cut := range data {
			_, ok := Skip(data[:cut])
			require.False(t, ok, "%v", v)
		}
	}
	for name, data := range map[string][]byte{
		"an indefinite length":  {0x9f, 0xff},
		"too many levels":       append(make([]byte, 0), repeated(0x81, 40)...),
		"more than there is":    {0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"a map of too many":     {0xbb, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0},
		"a simple value in two": {0xf8, 20},
	} {
		_, ok := Skip(data)
		require.False(t, ok, name)
	}
}

func repeated(b byte, n int) []byte {
	all := make([]byte, n)
	for i := range all {
		all[i] = b
	}
	return all
}

// FuzzSkip holds Skip to the library: what it skips is well-formed, and the rest is what the
// library leaves.
func FuzzSkip(f *testing.F) {
	for _, v := range []any{bagOf(letter1{To: "Ada"}), []any{"a", nil}, 1 << 40} {
		data, err := Marshal(v)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rest, ok := Skip(data)
		if !ok {
			return
		}
		require.NoError(t, decoding.Wellformed(data[:len(data)-len(rest)]))
	})
}
