package codec

import (
	"bytes"
	"math/big"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

type numbers struct {
	Int   *big.Int
	Rat   *big.Rat
	Float *big.Float
}

// Of math/big the library knows Int alone; what it encodes of the others is nothing.
func TestOfBigNumbersOnlyIntIsEncoded(t *testing.T) {
	n := new(big.Int).Lsh(big.NewInt(7), 200)
	var buf bytes.Buffer
	require.NoError(t, shapeOf(reflect.TypeFor[numbers]()).encode(&buf, numbers{Int: n}))
	require.ErrorContains(t, shapeOf(reflect.TypeFor[numbers]()).encode(&buf, numbers{Rat: big.NewRat(1, 3)}), "Rat")
	require.ErrorContains(t, shapeOf(reflect.TypeFor[numbers]()).encode(&buf, numbers{Float: big.NewFloat(1.5)}), "Float")
	require.Error(t, shapeOf(reflect.TypeFor[big.Rat]()).encode(&buf, *big.NewRat(1, 3)))
}

type secretive struct {
	Name   string
	Secret string `json:"-"`
}

type kept struct {
	Name   string
	Secret string `cbor:"secret" json:"-"`
	Cache  string `cbor:"-"      json:"-"`
}

// Types whose fields all have the tag, some of them as arrays, and one with a field that has none.
type (
	leftOut struct {
		Cache, More string `cbor:"-"`
	}
	leftOutArray struct {
		_     struct{} `cbor:",toarray"`
		Cache string   `cbor:"-"`
	}
	halfLeftOut struct {
		Cache string `cbor:"-"`
		inner int
	}
)

// Fields that a tag leaves out may be all that a struct has. Only a field without a tag was
// forgotten.
func TestAStructMayLeaveOutAllItsFields(t *testing.T) {
	for _, v := range []any{leftOut{"c", "m"}, leftOutArray{Cache: "c"}, halfLeftOut{Cache: "c"}} {
		typ := reflect.TypeOf(v)
		e := Encoder{&kind{name: "case", typ: typ}}
		data, err := e.Append(nil, v)
		require.NoError(t, err)
		back := reflect.New(typ)
		require.NoError(t, Unmarshal(data, back.Interface()))
		require.Zero(t, back.Elem().Interface())
		zero, err := e.Append(nil, back.Elem().Interface())
		require.NoError(t, err)
		require.Equal(t, zero, data)
	}
	_, err := Marshal(halfLeftOut{Cache: "c", inner: 1})
	require.ErrorContains(t, err, "a codec.halfLeftOut has no exported fields to encode")
}

// A tag for JSON renames, but loses nothing: to leave a field out, say so to CBOR.
func TestAFieldThatIsLeftOutForJSONIsNotLost(t *testing.T) {
	var buf bytes.Buffer
	for _, v := range []secretive{{}, {Secret: "s"}} {
		require.ErrorContains(t, shapeOf(reflect.TypeFor[secretive]()).encode(&buf, v), "field Secret of codec.secretive has the tag `json:\"-\"`")
		_, err := Encoder{&kind{name: "case", typ: reflect.TypeFor[secretive]()}}.Append(nil, v)
		require.ErrorContains(t, err, "field Secret of codec.secretive has the tag `json:\"-\"`", "as a message or an event by itself")
	}
	require.NoError(t, shapeOf(reflect.TypeFor[kept]()).encode(&buf, kept{"n", "s", "c"}))
	var back kept
	require.NoError(t, Unmarshal(buf.Bytes(), &back))
	require.Equal(t, kept{"n", "s", ""}, back)
}
