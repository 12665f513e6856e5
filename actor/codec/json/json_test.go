package json_test

import (
	"math"
	"net/netip"
	"reflect"
	"sync"
	"sync/atomic"
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

type (
	// A note has a field for each node by itself, and one that somebody has forgotten to export.
	note struct {
		Text   string `json:"text"`
		mu     sync.Mutex
		_      int
		cache  int `json:"-"`
		memo   int `cbor:"-"`
		author string
	}
	well struct {
		Public sync.RWMutex
		size   struct{}
		inner
		Outer
	}
	inner    struct{ In int }
	Outer    struct{ Out int }
	pointing struct{ *inner }
	signed   struct {
		time.Time
		by string `yaml:"by"`
	}
	number int
	bare   struct{ number }
	cents  struct{ n int }

	counting   struct{ N atomic.Int64 }
	concurrent struct{ All sync.Map }
)

func (c *cents) UnmarshalText([]byte) error { return nil }

func TestTypesThatJSONWouldChangeAreRefused(t *testing.T) {
	require.True(t, (&note{}).mu.TryLock())
	_ = []any{&note{cache: 0, memo: 0, author: ""}, &well{size: struct{}{}}, signed{by: ""}, cents{n: 1}, bare{number: number(1)}}
	for typ, problem := range map[reflect.Type]string{
		reflect.TypeFor[order]():        "",
		reflect.TypeFor[tree]():         "",
		reflect.TypeFor[*tree]():        "",
		reflect.TypeFor[struct{}]():     "",
		reflect.TypeFor[time.Time]():    "",
		reflect.TypeFor[well]():         "",
		reflect.TypeFor[cents]():        "",
		reflect.TypeFor[netip.Prefix](): "",
		reflect.TypeFor[struct {
			N int
			F func() `json:"-"`
		}](): "",

		reflect.TypeFor[struct{ V any }]():             "at field V of struct { V interface {} }: JSON does not say which type",
		reflect.TypeFor[map[string]any]():              "JSON does not say",
		reflect.TypeFor[struct{ E []error }]():         "JSON does not say",
		reflect.TypeFor[struct{ F func() }]():          "JSON cannot encode a func()",
		reflect.TypeFor[chan int]():                    "JSON cannot encode a chan int",
		reflect.TypeFor[note]():                        "the field author of json_test.note is not exported, so JSON would lose it; export it as Author, or write MarshalJSON and UnmarshalJSON; or, if each node may have it for itself, leave it out in the line of note: author string `json:\"-\"`",
		reflect.TypeFor[struct{ L map[string]note }](): "at field L of struct { L map[string]json_test.note }: the field author",
		reflect.TypeFor[signed]():                      "leave it out in the line of signed: by string `yaml:\"by\" json:\"-\"`",
		reflect.TypeFor[bare]():                        "leave it out in the line of bare: json_test.number `json:\"-\"`",
		reflect.TypeFor[pointing]():                    "JSON cannot decode the field inner of json_test.pointing, a pointer to a type that is not exported; embed the type itself",
		reflect.TypeFor[counting]():                    "at field N of json_test.counting: JSON would lose the field v of a atomic.Int64, which is not exported; use another type",
		reflect.TypeFor[concurrent]():                  "use another type",
	} {
		err := json.Codec{}.CheckType(typ)
		if problem == "" {
			require.NoError(t, err, "%v", typ)
			continue
		}
		require.ErrorContains(t, err, problem, "%v", typ)
	}
}
