package codec

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"
)

// A marked format is JSON behind its name, and fails where it is told to.
type marked string

func (m marked) Name() string { return string(m) }

func (m marked) Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if bytes.Contains(data, []byte("panic")) {
		panic("it was told to")
	}
	if bytes.Contains(data, []byte("refuse")) {
		return nil, errors.New("it does not like it")
	}
	return append([]byte(m), data...), err
}

func (m marked) Unmarshal(data []byte, into any) error {
	rest, ok := bytes.CutPrefix(data, []byte(m))
	if !ok {
		return fmt.Errorf("%q is no %s", data, m)
	}
	return json.Unmarshal(rest, into)
}

type (
	stone  struct{ Kind string }
	pebble struct{ N int }

	// A quarry has both, and parts without a format.
	quarry struct {
		Name    string
		Found   time.Time
		One     stone
		Maybe   *stone
		All     []stone
		Named   map[string]*stone
		Numbers map[int][]pebble
		Pair    [2]pebble
		Left    *stone `cbor:"left,omitempty"`
		Key     stone  `cbor:"7,keyasint"`
		Rest    []string
		heap
	}
	heap struct{ Top pebble }
	seam struct {
		_ struct{} `cbor:",toarray"`
		A string
		B stone
		C *pebble
	}
	longerSeam struct {
		_ struct{} `cbor:",toarray"`
		A string
		B stone
		C *pebble
		D int
	}
	boulder struct{ Parts []boulder }
	gravel  struct{ Of string }
)

func init() {
	RegisterFormats("codec.stone", reflect.TypeFor[stone](), false, marked("a"))
	RegisterFormats("codec.pebble", reflect.TypeFor[pebble](), false, marked("b"), marked("a"))
	RegisterFormats("codec.boulder", reflect.TypeFor[boulder](), false, marked("a"))
	RegisterFormats("codec.gravel", reflect.TypeFor[gravel](), false, nil, marked("a"))
	Register("codec.quarry", reflect.TypeFor[quarry](), false)
}

func aQuarry() quarry {
	return quarry{
		Name: "q", Found: time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC), One: stone{"granite"}, Maybe: &stone{"slate"}, All: []stone{{"a"}, {"b"}},
		Named: map[string]*stone{"x": {"y"}, "nil": nil}, Numbers: map[int][]pebble{7: {{1}}, -1: nil, 2: {}}, Pair: [2]pebble{{1}, {2}},
		Key: stone{"key"}, heap: heap{pebble{9}},
	}
}

func TestAFormatEncodesValuesAndPartsOfOthers(t *testing.T) {
	for _, v := range []any{
		stone{"granite"},
		aQuarry(),
		quarry{},
		quarry{Left: &stone{"l"}},
		seam{A: "a", B: stone{"b"}},
		seam{C: &pebble{1}},
		boulder{Parts: []boulder{{}}},
		[]stone{{"a"}},
		[]stone(nil),
		[]stone{},
		map[string]stone{},
		gravel{"sand"},
	} {
		data, err := Marshal(v)
		require.NoError(t, err)
		back := reflect.New(reflect.TypeOf(v))
		require.NoError(t, Unmarshal(data, back.Interface()), "%T %x", v, data)
		require.Equal(t, v, back.Elem().Interface())
		again, err := Marshal(v)
		require.NoError(t, err)
		require.Equal(t, data, again, "equal values are equal bytes")
		for i := range data {
			require.Error(t, Unmarshal(data[:i], reflect.New(reflect.TypeOf(v)).Interface()), "%T torn at %d", v, i)
		}
		require.Error(t, Unmarshal(append(data, 0), reflect.New(reflect.TypeOf(v)).Interface()))
	}
}

// What is stored has this form for ever.
func TestTheFormOfFormattedDataNeverChanges(t *testing.T) {
	name, data, err := Encode(stone{"x"})
	require.NoError(t, err)
	require.Equal(t, "codec.stone", name)
	require.Equal(t, "d9c0de8261614d"+hex.EncodeToString([]byte(`a{"Kind":"x"}`)), hex.EncodeToString(data))
}

// A type may get a format, change it, and lose it.
func TestWhatWasEncodedBeforeIsStillRead(t *testing.T) {
	formatted := func(name, text string) []byte {
		data := append(bytes.Clone(formatted), AppendHead(nil, MajorText, uint64(len(name)))...)
		data = append(data, name...)
		data = append(data, AppendHead(nil, MajorBytes, uint64(len(text)))...)
		return append(data, text...)
	}
	plain, err := encoding.Marshal(stone{"x"})
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		data []byte
		want any
	}{
		{"codec.stone", plain, stone{"x"}},
		{"codec.stone", formatted("a", `a{"Kind":"x"}`), stone{"x"}},
		{"codec.pebble", formatted("a", `a{"N":3}`), pebble{3}},
		{"codec.pebble", formatted("b", `b{"N":3}`), pebble{3}},
		{"codec.gravel", formatted("a", `a{"Of":"x"}`), gravel{"x"}},
	} {
		got, err := Decode(c.name, c.data)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	data, err := Marshal(gravel{"x"})
	require.NoError(t, err)
	require.False(t, IsFormatted(data), "its codec is a former one")

	older, err := Marshal(seam{A: "a", B: stone{"b"}})
	require.NoError(t, err)
	newer, err := Marshal(longerSeam{A: "a", B: stone{"b"}, D: 4})
	require.NoError(t, err)
	var r seam
	require.NoError(t, Unmarshal(newer, &r))
	require.Equal(t, seam{A: "a", B: stone{"b"}}, r)
	var longer longerSeam
	require.NoError(t, Unmarshal(older, &longer))
	require.Equal(t, longerSeam{A: "a", B: stone{"b"}}, longer)

	_, err = Decode("codec.stone", formatted("c", "c{}"))
	var unknown *UnknownFormatError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, UnknownFormatError{Format: "c", Type: reflect.TypeFor[stone]()}, *unknown)
	_, err = Decode("codec.stone", formatted("a", "b{}"))
	require.EqualError(t, err, `decode codec.stone: by the codec "a": "b{}" is no a`)
}

type (
	// These have other types where the data has a stone.
	vein    struct{ In pair }
	rubble  struct{ In []any }
	lode    struct{ In any }
	shaft   struct{ In map[string][]*vein }
	lump    struct{ Kind string }
	nugget  struct{ In lump }
	nuggets struct{ In []*nugget }
	fossil  struct{ In cbor.RawMessage }
	hollow  struct{ Out int }

	// A pair has the form of what is behind the tag.
	pair struct {
		_    struct{} `cbor:",toarray"`
		Name string
		Data []byte
	}
)

// The content of the tag is a text and bytes, and other types can be decoded from these.
func TestAPartWithAFormatIsNeverReadAsAnotherType(t *testing.T) {
	item := func(name string) []byte {
		return slices.Concat(formatted, AppendHead(nil, MajorText, 1), []byte(name), AppendHead(nil, MajorBytes, 13), []byte(`a{"Kind":"x"}`))
	}
	in := func(data ...byte) []byte { return append([]byte{MajorMap | 1, MajorText | 2, 'I', 'n'}, data...) }
	deep := in(slices.Concat([]byte{MajorMap | 1, MajorText | 1, 'k', MajorArray | 1}, in(item("z")...))...)
	for _, c := range []struct {
		data     []byte
		into     any
		at, kind string
	}{
		{item("z"), new(pair), "", "codec.pair"},
		{in(item("z")...), new(vein), "at .In: ", "codec.pair"},
		{in(item("z")...), new(rubble), "at .In: ", "[]interface {}"},
		{in(item("z")...), new(nugget), "at .In: ", "codec.lump"},
		{deep, new(shaft), `at .In["k"][0].In: `, "codec.pair"},
		{slices.Concat([]byte{MajorArray | 1}, in(item("z")...)), new([]vein), "at [0].In: ", "codec.pair"},
	} {
		err := Unmarshal(c.data, c.into)
		require.ErrorContains(t, err, c.at+`another version of the program has encoded it by the codec "z", which no type here has; register `+c.kind+" with")
		require.ErrorAs(t, err, new(*UnknownFormatError))
	}
	for _, name := range []string{"a", "z"} {
		require.ErrorContains(t, Unmarshal(in(item(name)...), new(lode)), `at .In: the codec "`+name+`" has encoded it, and a interface {} does not say what it is`)
	}

	require.ErrorContains(t, Unmarshal(in(item("a")...), new(rubble)), `at .In: by the codec "a": json: cannot unmarshal`)
	var known nuggets
	require.NoError(t, Unmarshal(in(append([]byte{MajorArray | 1}, in(item("a")...)...)...), &known))
	require.Equal(t, nuggets{[]*nugget{{lump{"x"}}}}, known)
	require.ErrorContains(t, Unmarshal(in(slices.Concat(formatted, []byte{0, 0})...), new(nugget)), "malformed")
	var raw fossil
	require.NoError(t, Unmarshal(in(item("z")...), &raw), "it reads the tag itself")
	require.Equal(t, item("z"), []byte(raw.In))
	require.NoError(t, Unmarshal(in(item("z")...), new(hollow)), "it ignores the field")
	var text struct{ In []byte }
	require.NoError(t, Unmarshal(in(append([]byte{MajorBytes | 20}, item("z")...)...), &text), "they are bytes that look like it")
	require.Equal(t, item("z"), text.In)
}

func TestABriefValueWithPartsIsBoundedToo(t *testing.T) {
	data, err := Marshal(make([]stone, MaxBrief+1))
	require.NoError(t, err)
	var all []stone
	require.NoError(t, Unmarshal(data, &all))
	require.Error(t, UnmarshalBrief(data, &all))
}

func TestWhatAFormatRefusesIsAnErrorWithThePath(t *testing.T) {
	q := aQuarry()
	q.Named["x"].Kind = "refuse"
	_, _, err := Encode(q)
	require.EqualError(t, err, `encode codec.quarry: at .Named["x"]: by the codec "a": it does not like it`)
	_, _, err = Encode(stone{"panic"})
	require.EqualError(t, err, `encode codec.stone: by the codec "a": panic: it was told to`)
}

func TestATypeHasOneFormat(t *testing.T) {
	RegisterFormats("codec.stone", reflect.TypeFor[stone](), false, marked("a"))
	for want, register := range map[string]func(){
		`type codec.stone is registered with the codec "a" already, cannot have CBOR as well`: func() {
			Register("codec.stone", reflect.TypeFor[stone](), false)
		},
		`cannot have the codec "b" as well`: func() { RegisterFormats("codec.stone", reflect.TypeFor[stone](), false, marked("b")) },
		`cannot have the codec ""`:          func() { RegisterFormats("codec.seam", reflect.TypeFor[seam](), false, marked("")) },
		`codecs with the name "a"`:          func() { RegisterFormats("codec.seam", reflect.TypeFor[seam](), false, struct{ marked }{"a"}) },
	} {
		var got any
		func() {
			defer func() { got = recover() }()
			register()
		}()
		require.Contains(t, got, want)
	}
}

type forgetful struct {
	Kept string
	Lost time.Duration `json:"lost,string"`
}

// A forgetting format forgets a field.
type forgetting struct{ marked }

func (forgetting) Unmarshal(_ []byte, into any) error {
	*into.(*forgetful) = forgetful{Kept: "k"}
	return nil
}

func TestAValueThatAFormatChangesDoesNotSurvive(t *testing.T) {
	RegisterFormats("codec.forgetful", reflect.TypeFor[forgetful](), false, forgetting{"lossy"})
	require.NoError(t, Survives(forgetful{Kept: "k"}))
	require.EqualError(t, Survives(forgetful{Kept: "k", Lost: 1}), "encode codec.forgetful: at .Lost: this time.Duration would be decoded as another value")
	require.NoError(t, Survives(7))
	require.NoError(t, Survives(aQuarry().One))
}
