package json_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/codec/json"
)

type line struct {
	Item string `json:"item"`
	N    int64
}

type order struct {
	ID      string
	At      time.Time
	Lines   []line
	By      map[string]*line
	Raw     []byte
	ReplyTo string
}

func anOrder() order {
	return order{
		ID: `\ufffd <é> ` + "\uFFFD", At: time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC), Lines: []line{{"tea", math.MaxInt64}},
		By: map[string]*line{"a": {"milk", -1}, "b": nil}, Raw: []byte{0xff, 0},
	}
}

func TestAValueSurvives(t *testing.T) {
	data, err := json.Codec{}.Marshal(anOrder())
	require.NoError(t, err)
	var back order
	require.NoError(t, json.Codec{}.Unmarshal(data, &back))
	require.Equal(t, anOrder(), back)
}

func TestAStringThatIsNotUTF8IsRefused(t *testing.T) {
	for _, text := range []string{"\xff", "a\xc3", `\` + "\xff", `\\` + "\xff"} {
		_, err := json.Codec{}.Marshal(order{ID: text})
		require.ErrorContains(t, err, "not UTF-8", "%q", text)
	}
	for _, text := range []string{"\uFFFD", `\ufffd`, `\\ufffd`} {
		_, err := json.Codec{}.Marshal(order{ID: text})
		require.NoError(t, err, "%q", text)
	}
}

// A tree contains itself.
type tree struct{ Children []*tree }

func TestTypesThatJSONWouldChangeAreRefused(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[order](), reflect.TypeFor[tree](), reflect.TypeFor[*tree](), reflect.TypeFor[struct{}](), reflect.TypeFor[time.Time](),
		reflect.TypeFor[struct {
			N int
			F func() `json:"-"`
		}](),
	} {
		require.NoError(t, json.Codec{}.CheckType(typ), "%v", typ)
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[struct{ V any }](), reflect.TypeFor[map[string]any](), reflect.TypeFor[struct{ n int }](), reflect.TypeFor[struct{ E []error }](),
		reflect.TypeFor[struct{ F func() }](), reflect.TypeFor[chan int](),
	} {
		require.Error(t, json.Codec{}.CheckType(typ), "%v", typ)
	}
	require.ErrorContains(t, json.Codec{}.CheckType(reflect.TypeFor[struct{ V any }]()), "at field V of struct { V interface {} }: JSON does not say")
}
