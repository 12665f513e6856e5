package json_test

import (
	stdjson "encoding/json"
	"math"
	"math/big"
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
	coin   struct{ n int } // encodes itself where it has an address
	shown  struct{ N int } // cannot be read
	stamp  struct {
		time.Time
		Text string
	}
	pair struct {
		netip.Addr
		netip.Prefix
	}
	own struct {
		time.Time
		Text string
	}
	ownPointer struct {
		*time.Time
		Text string
	}

	counting   struct{ N atomic.Int64 }
	concurrent struct{ All sync.Map }
)

func (c *cents) UnmarshalText([]byte) error { return nil }

func (c *coin) MarshalJSON() ([]byte, error) { return stdjson.Marshal(c.n) }
func (c *coin) UnmarshalJSON(b []byte) error { return stdjson.Unmarshal(b, &c.n) }

func (shown) MarshalText() ([]byte, error) { return []byte("shown"), nil }

func (o *ownPointer) MarshalJSON() ([]byte, error) { return stdjson.Marshal([]any{o.Time, o.Text}) }
func (o *ownPointer) UnmarshalJSON(b []byte) error {
	return stdjson.Unmarshal(b, &[]any{&o.Time, &o.Text})
}

func (o own) MarshalJSON() ([]byte, error) { return stdjson.Marshal([]any{o.Time, o.Text}) }
func (o *own) UnmarshalJSON(b []byte) error {
	return stdjson.Unmarshal(b, &[]any{&o.Time, &o.Text})
}

func TestTypesThatJSONWouldChangeAreRefused(t *testing.T) {
	require.True(t, (&note{}).mu.TryLock())
	_ = []any{&note{cache: 0, memo: 0, author: ""}, &well{size: struct{}{}}, signed{by: ""}, cents{n: 1}, bare{number: number(1)}}
	n := reflect.TypeFor[int]()
	twice := reflect.StructOf([]reflect.StructField{{Name: "A", Type: n, Tag: `json:"a"`}, {Name: "B", Type: n, Tag: `json:"a"`}}) // go vet knows it, too
	for typ, problem := range map[reflect.Type]string{
		reflect.TypeFor[order]():       "",
		reflect.TypeFor[tree]():        "",
		reflect.TypeFor[*tree]():       "",
		reflect.TypeFor[struct{}]():    "",
		reflect.TypeFor[time.Time]():   "",
		reflect.TypeFor[well]():        "",
		reflect.TypeFor[own]():         "",
		reflect.TypeFor[*ownPointer](): "",
		reflect.TypeFor[big.Int]():     "JSON would not call MarshalJSON or MarshalText of *big.Int for a value without an address",
		reflect.TypeFor[struct {
			P  *coin
			L  []coin
			M  map[string]*coin
			To *big.Int
			A  *struct{ In coin }
		}](): "",
		reflect.TypeFor[struct {
			A int `json:"a"`
			B int `json:"b"`
			well
		}](): "",
		reflect.TypeFor[netip.Prefix](): "",
		reflect.TypeFor[struct {
			N int
			F func() `json:"-"`
		}](): "",

		reflect.TypeFor[cents]():             "the field n of json_test.cents is not exported",
		reflect.TypeFor[struct{ In coin }](): "at field In of struct { In json_test.coin }: JSON would not call MarshalJSON or MarshalText of *json_test.coin for a value without an address, as in a field; write it for json_test.coin: func (x coin)",
		reflect.TypeFor[map[string]coin]():   "func (x coin)",
		reflect.TypeFor[[2]coin]():           "func (x coin)",
		reflect.TypeFor[struct{ V shown }](): "json_test.shown has a method that encodes it, and none that decodes it",
		reflect.TypeFor[stamp]():             "the methods of the embedded Time would encode the whole json_test.stamp, and lose its other fields; give that field a name",
		reflect.TypeFor[pair]():              "JSON would not call the methods of Addr, which is embedded in json_test.pair; give that field a name",
		reflect.TypeFor[struct {
			well
			In int
		}](): "the fields well.inner.In and In of",
		twice: "the fields A and B of struct { A int \"json:\\\"a\\\"\"; B int \"json:\\\"a\\\"\" } have the same name in JSON, a, so it would lose one or both; give one a tag: `json:\"another\"`",

		reflect.TypeFor[struct{ V any }]():             "at field V of struct { V interface {} }: JSON does not say which type",
		reflect.TypeFor[map[string]any]():              "JSON does not say",
		reflect.TypeFor[struct{ E []error }]():         "JSON does not say",
		reflect.TypeFor[struct{ F func() }]():          "JSON cannot encode a func()",
		reflect.TypeFor[chan int]():                    "JSON cannot encode a chan int",
		reflect.TypeFor[note]():                        "the field author of json_test.note is not exported, so JSON would lose it; export it as Author, or write MarshalJSON and UnmarshalJSON; or, if each node may have it for itself, leave it out in the line of note: author string `json:\"-\"`",
		reflect.TypeFor[struct{ L map[string]note }](): "at field L of struct { L map[string]json_test.note }: the field author",
		reflect.TypeFor[signed]():                      "the methods of the embedded Time would encode the whole json_test.signed",
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
