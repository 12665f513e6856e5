package codec

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type tree struct {
	Value  string
	Parent *tree
	Kids   []*tree
}

// aTree is a tree whose nodes know their parents.
func aTree() *tree {
	t := &tree{Value: "root"}
	t.Kids = []*tree{{Value: "kid", Parent: t}}
	return t
}

// deep returns that many arrays, one in another.
func deep(levels int) any {
	var v any = "core"
	for range levels {
		v = []any{v}
	}
	return v
}

// shared returns a value of 2 to the power of levels texts, all of them the same.
func shared(levels int) any {
	var v any = strings.Repeat("x", 1<<14)
	for range levels {
		v = []any{v, v}
	}
	return v
}

// What cannot be decoded is refused when it is encoded, and the error says where it is.
func TestWhatDecodingWouldRefuseOrChangeIsNotEncoded(t *testing.T) {
	bad := "a\xff"
	var nothing *int
	ring := map[string]any{}
	ring["self"] = ring
	self := []any{nil}
	self[0] = self
	var round loop
	round = &round
	sameDay := map[time.Time]int{time.Unix(1, 0).UTC(): 1, time.Unix(1, 0).In(time.FixedZone("x", 3600)): 2}
	for name, c := range map[string]struct {
		value any
		says  string
	}{
		"a text":                      {bad, "not UTF-8"},
		"a text in a field":           {line{Item: bad}, "at .Item: the string is not UTF-8; use []byte"},
		"a text in fields of slices":  {order{Lines: []line{{}, {By: []string{"", bad}}}}, "at .Lines[1].By[1]: the string is not UTF-8"},
		"a text behind a pointer":     {struct{ P *string }{&bad}, "at .P: the string"},
		"a text as a key":             {struct{ M map[string]int }{map[string]int{bad: 1}}, `at .M key "a\xff": the string`},
		"a text as a value":           {map[string]string{"k": bad}, `at ["k"]: the string`},
		"a text in an interface":      {struct{ A any }{[]any{nil, map[string]any{"k": bad}}}, `at .A[1]["k"]: the string`},
		"a late time":                 {struct{ At time.Time }{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, "at .At: the time is in the year 10000"},
		"an early time":               {[]time.Time{time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}, "at [0]: the time is in the year -1"},
		"a pointer to the zero time":  {struct{ At *time.Time }{&time.Time{}}, "at .At: a pointer to a nil or to the zero time"},
		"a pointer to a nil":          {struct{ P **int }{&nothing}, "at .P: a pointer to a nil"},
		"a deep value":                {struct{ A any }{deep(64)}, "nested deeper than 64 levels"},
		"a tree with parents":         {aTree(), "at .Kids[0].Parent.Kids[0].Parent"},
		"a map with itself inside":    {struct{ A any }{ring}, "has itself inside"},
		"a slice with itself inside":  {struct{ A any }{self}, "has itself inside"},
		"a pointer to itself":         {struct{ L loop }{round}, "has itself inside"},
		"a large value of small ones": {struct{ A any }{shared(20)}, "more than 268435456 bytes"},
		"many elements":               {struct{ B []bool }{make([]bool, maxElements+1)}, "at .B: it has 1048577 elements"},
		"many elements of an array":   {struct{ B *[maxElements + 1]bool }{new([maxElements + 1]bool)}, "at .B: it has 1048577 elements"},
		"an embedded pointer":         {byRef{&base{}}, "unexported struct"},
		"a hidden field":              {both{Base: Base{"lost"}, Kind: "kept"}, "at .Base.Kind: this string would be decoded as another value"},
		"two fields of one name":      {sameName{1, 2}, "at .A: this int"},
		"an int in an interface":      {struct{ M map[string]any }{map[string]any{"n": 1}}, `at .M["n"]: a int in an interface would be decoded as another type, as its type is not encoded; use int64`},
		"a struct in an interface":    {struct{ A any }{line{}}, "at .A: a codec.line in an interface"},
		"a time in an interface":      {[]any{time.Now()}, "at [0]: a time.Time in an interface"},
		"an error":                    {struct{ Err error }{fmt.Errorf("x")}, "at .Err: a *errors.errorString in a error cannot be decoded"},
		"a NaN as a key":              {map[float64]int{math.NaN(): 1}, "a NaN"},
		"a pointer as a key":          {map[*int]int{new(int): 1}, "a pointer as a key"},
		"a nil key":                   {map[any]panicky{nil: {1}}, `at ["nil"]: panic: MarshalCBOR`},
		"keys that are one":           {sameDay, "duplicate map key"},
		"keys that encode as one":     {map[shortKey]int{{1, 1}: 1, {1, 2}: 2}, " key "},
		"a channel":                   {struct{ C chan int }{}, "at .C: a chan int cannot be encoded; leave it out"},
		"no field":                    {struct{ H hidden }{hidden{1}}, "at .H: a codec.hidden has no exported fields"},
		"a promoted method":           {stamped{time.Unix(1, 0), "lost"}, "at .Note: this string"},
		"an encoding that panics":     {struct{ In []panicky }{[]panicky{{0}, {1}}}, "at .In[1]: panic: MarshalCBOR"},
		"a decoding that panics":      {struct{ In map[string]panicky }{map[string]panicky{"k": {2}}}, `at .In["k"]: panic: UnmarshalCBOR`},
		"no decoding":                 {struct{ W oneWay }{}, "at .W: cbor: cannot unmarshal array"},
		"another decoding":            {wayBack{3, 4}, "this codec.wayBack would be decoded as another value"},
		"a deep encoding":             {deepOwn{70}, "nested level"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Marshal(c.value)
			var refused *EncodeError
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, c.says)
			require.Less(t, len(err.Error()), 1000)
			_, err = Encoder{&kind{name: "case", typ: reflect.TypeOf(c.value)}}.Append(nil, c.value)
			require.ErrorAs(t, err, &refused)
		})
	}
}

// A value exactly at a bound passes, when encoding and when decoding.
func TestBoundsAreTheSameOnBothSides(t *testing.T) {
	for name, v := range map[string]any{
		"depth":      struct{ A any }{deep(63)},
		"elements":   struct{ B []bool }{make([]bool, maxElements)},
		"first time": time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		"last time":  time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		"depth of trees": func() any { // a node and the slice of its kids are two levels
			root := tree{}
			for at, i := &root, 0; i < 31; i++ {
				at.Kids = []*tree{{}}
				at = at.Kids[0]
			}
			return root
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			data, err := Marshal(v)
			require.NoError(t, err)
			back := reflect.New(reflect.TypeOf(v))
			require.NoError(t, Unmarshal(data, back.Interface()))
			require.Equal(t, v, back.Elem().Interface())
		})
	}
}

// What a value has shared is not gone through for ever, and takes no memory before it is refused.
func TestALargeValueIsRefusedBeforeItIsEncoded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Marshal(shared(60))
	require.ErrorContains(t, err, "bytes")
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// A value that is refused leaves the way open for the next one.
func TestAfterARefusalTheNextValueIsEncoded(t *testing.T) {
	Register("codec.tree", reflect.TypeFor[tree](), false)
	for range 3 {
		_, _, err := Encode(*aTree())
		require.Error(t, err)
		name, data, err := Encode(tree{Value: "alone"})
		require.NoError(t, err)
		got, err := Decode(name, data)
		require.NoError(t, err)
		require.Equal(t, tree{Value: "alone"}, got)
	}
}

func TestAPanicInDecodingIsAnError(t *testing.T) {
	Register("codec.panicky", reflect.TypeFor[panicky](), false)
	_, err := Decode("codec.panicky", []byte{2})
	var broken *DecodeError
	require.ErrorAs(t, err, &broken)
	require.ErrorContains(t, err, "panic: UnmarshalCBOR")
}
