package codec

import (
	"bytes"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"
)

type (
	parcel struct {
		_    struct{} `cbor:",toarray"`
		Data []byte
		Note string
	}
	order struct {
		ID       int64
		Customer string `cbor:"c"`
		Amount   uint8  `json:"amount"`
		Ratio    float32
		Share    float64
		Paid     bool
		At       time.Time
		Took     time.Duration
		Tags     []string
		Lines    []line
		Parcel   parcel
		Key      []byte
		hidden   int //nolint:unused // it is not encoded
		Skipped  int `cbor:"-"`
	}
	line struct {
		Item  string
		Count int16
		By    []string
		Open  bool
	}
	shy      struct{ A, B int }
	tuned    struct{ Inner []tuned }
	optional struct {
		A int `cbor:"a,omitempty"`
	}
	embedded  struct{ line }
	pointing  struct{ P *int }
	bytesLike []byte
	enum      uint8
)

// Fields of one name are not what they seem: the library prefers one with a tag, or drops both.
type (
	twins struct {
		X int
		Y int `cbor:"X"`
	}
	tagged struct {
		X int `cbor:"n"`
		Y int `cbor:"n"`
	}
	garbled struct {
		X int `cbor:"\xff"`
	}
)

// A spiteful value cannot be encoded as long as it is zero.
type spiteful struct{ names map[string]int }

func (s spiteful) MarshalCBOR() ([]byte, error) {
	s.names["used"]++
	return Marshal(len(s.names))
}

func (s *spiteful) UnmarshalCBOR([]byte) error {
	s.names = map[string]int{}
	return nil
}

func (s *shy) UnmarshalCBOR(data []byte) error { return Unmarshal(data, &s.A) }
func (s shy) MarshalCBOR() ([]byte, error)     { return Marshal(s.A) }

func TestTypesWithAPlan(t *testing.T) {
	for typ, planned := range map[reflect.Type]bool{
		reflect.TypeFor[int]():                     true,
		reflect.TypeFor[[]byte]():                  true,
		reflect.TypeFor[bytesLike]():               true,
		reflect.TypeFor[[][]string]():              true,
		reflect.TypeFor[parcel]():                  true,
		reflect.TypeFor[order]():                   true,
		reflect.TypeFor[time.Time]():               false, // it has methods
		reflect.TypeFor[shy]():                     false, // it has methods
		reflect.TypeFor[[]enum]():                  false, // the library takes it for bytes
		reflect.TypeFor[tuned]():                   false, // it has no end
		reflect.TypeFor[optional]():                false,
		reflect.TypeFor[embedded]():                false,
		reflect.TypeFor[pointing]():                false,
		reflect.TypeFor[map[string]int]():          false,
		reflect.TypeFor[[3]int]():                  false,
		reflect.TypeFor[struct{ At time.Time }]():  true,
		reflect.TypeFor[struct{ Rows []twins }]():  false,
		reflect.TypeFor[struct{ Rows []tagged }](): false,
		reflect.TypeFor[garbled]():                 false,
		reflect.TypeFor[[]float64]():               true,
		reflect.TypeFor[struct{ S spiteful }]():    true,
		reflect.TypeFor[cbor.Tag]():                false,
		reflect.TypeFor[struct{ T cbor.Tag }]():    false,
	} {
		require.Equal(t, planned, planOf(typ) != nil, "%v", typ)
	}
}

func anOrder() order {
	return order{
		ID: math.MinInt64, Customer: "ünïcode", Amount: 200, Ratio: 1.5, Share: math.Pi, Paid: true,
		At: time.Date(2026, 11, 22, 1, 2, 3, 4, time.UTC), Took: time.Minute,
		Tags: []string{"", "b"}, Lines: []line{{Item: "x", Count: -7, By: []string{"me"}, Open: true}, {}}, Parcel: parcel{Data: []byte{1}, Note: "n"}, Key: []byte{},
	}
}

func TestAPlanDoesWhatTheLibraryDoes(t *testing.T) {
	for _, v := range []any{anOrder(), order{}, parcel{}, []string{"a"}, []byte("b"), []line{{Item: "a"}, {Count: 300}}, []parcel{}, 300, -1, false, math.MinInt64, uint64(math.MaxUint64), "text"} {
		data, err := encoding.Marshal(v)
		require.NoError(t, err)
		got := reflect.New(reflect.TypeOf(v)).Elem()
		require.True(t, planOf(got.Type()).decodeAll(data, got, unshared), "%T", v)
		require.Equal(t, v, got.Interface())
		if p := planOf(got.Type()); p.encode != nil {
			require.True(t, p.encodes(reflect.ValueOf(v), data), "%T", v)
		}
	}
}

// What a plan has begun and given up leaves unshared behind in the value that the library makes,
// nor in the next one.
func TestWhatAPlanGivesUpTheLibraryDecodes(t *testing.T) {
	Register("codec.order", reflect.TypeFor[order](), false)
	other, err := cbor.Marshal(map[string]any{"ID": 3, "Tags": []string{"one"}, "nobody": 1}) // fields are missing, and one is not known
	require.NoError(t, err)
	whole, err := encoding.Marshal(anOrder())
	require.NoError(t, err)
	for range 3 {
		got, err := Decode("codec.order", whole)
		require.NoError(t, err)
		require.Equal(t, anOrder(), got)
		got, err = Decode("codec.order", other)
		require.NoError(t, err)
		require.Equal(t, order{ID: 3, Tags: []string{"one"}}, got)
		_, err = Decode("codec.order", whole[:len(whole)-1])
		require.ErrorContains(t, err, "EOF")
		_, err = Decode("codec.order", append(slices.Clip(whole), 0))
		require.ErrorContains(t, err, "extraneous")
	}
}

func TestMethodsOfAFieldAreCalledForItsValuesOnly(t *testing.T) {
	type holder struct{ S spiteful }
	Register("codec.holder", reflect.TypeFor[holder](), false)
	_, data, err := Encode(holder{S: spiteful{names: map[string]int{}}})
	require.NoError(t, err)
	require.NotEmpty(t, data)
}

// A message of 1 MB that claims to have more in it than it has costs no more than one of 1 MB
// that has it.
func TestClaimsAreNotBelieved(t *testing.T) {
	type deep [][][][][][]string
	type wide struct{ A, B, C, D, E, F, G, H string }
	claim := []byte{MajorArray | 26, 0, 0x0f, 0xff, 0xff}
	for typ, claims := range map[reflect.Type]int{reflect.TypeFor[deep](): 6, reflect.TypeFor[[]wide](): 1} {
		p := planOf(typ)
		require.NotNil(t, p)
		data := append(bytes.Repeat(claim, claims), make([]byte, 1<<20)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.False(t, p.decodeAll(data, reflect.New(typ).Elem(), unshared))
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "%v", typ)
	}
}

// FuzzPlans holds plans to the library: what they decode it decodes, to the same value, and
// what it encodes they decode, and encode to the same bytes.
func FuzzPlans(f *testing.F) {
	types := []reflect.Type{
		reflect.TypeFor[order](), reflect.TypeFor[parcel](), reflect.TypeFor[line](), reflect.TypeFor[struct{ S shy }](),
		reflect.TypeFor[[]string](), reflect.TypeFor[[][]int8](), reflect.TypeFor[[]parcel](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[string](), reflect.TypeFor[int32](), reflect.TypeFor[uint16](), reflect.TypeFor[bool](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[[]time.Time](), reflect.TypeFor[struct{ F []float32 }](), reflect.TypeFor[[]float64](), reflect.TypeFor[[]line](),
	}
	for i, t := range types {
		for _, v := range []any{anOrder(), parcel{Data: []byte{1}}, line{Item: "a", Count: 1}, []line{{}}, "text", 70000, 1.25, []string{"a"}} {
			data, err := encoding.Marshal(v)
			require.NoError(f, err)
			f.Add(uint8(i), data)
		}
		data, err := encoding.Marshal(reflect.Zero(t).Interface())
		require.NoError(f, err)
		f.Add(uint8(i), data)
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		typ := types[int(which)%len(types)]
		p := planOf(typ)
		byPlan, byLibrary := reflect.New(typ), reflect.New(typ)
		ok := p.decodeAll(data, byPlan.Elem(), unshared)
		err := unmarshalFitting(decoding, data, byLibrary.Interface())
		if ok {
			require.NoError(t, err)
			requireSame(t, byLibrary, byPlan)
		}
		if err != nil {
			return
		}
		again, err := encoding.Marshal(byLibrary.Interface())
		if err != nil {
			return // a time that has no text
		}
		if p.encode != nil {
			require.True(t, p.encodes(byLibrary.Elem(), again))
		}
		byPlan, byLibrary = reflect.New(typ), reflect.New(typ)
		if decoding.Unmarshal(again, byLibrary.Interface()) != nil {
			return // a time in a year of eight digits
		}
		require.True(t, p.decodeAll(again, byPlan.Elem(), unshared))
		requireSame(t, byLibrary, byPlan)
	})
}

// requireSame compares what two pointers point to, by their encodings: a NaN differs from itself.
func requireSame(t *testing.T, want, got reflect.Value) {
	t.Helper()
	a, err := encoding.Marshal(want.Interface())
	if err != nil {
		return // a time that has no text
	}
	b, err := encoding.Marshal(got.Interface())
	require.NoError(t, err)
	require.Equal(t, a, b)
}
