package inspect_test

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/inspect"
)

type (
	inner  struct{ A, B int }
	looped struct{ Next *looped }
	panel  struct {
		inner          // its fields are the ones of panel
		Name    string `cbor:"name"`
		Left    int    `cbor:"-"`
		hidden  []int
		Card    string `understudy:"secret"`
		None    *int
		Nothing map[string]int
	}
)

func TestAPaintedValueHasTheNamesUnderWhichItIsStored(t *testing.T) {
	p := inspect.Painter{Key: []byte("key")}
	n := 7
	for want, v := range map[string]any{
		`null`:                   nil,
		`7`:                      &n,
		`"0x0102"`:               []byte{1, 2},
		`[1,2.5,3]`:              []float64{1, 2.5, 3},
		`"NaN"`:                  math.NaN(),
		`"+Inf"`:                 math.Inf(1),
		`1e+300`:                 1e300,
		`"(1+2i)"`:               1 + 2i,
		`"2026-11-30T00:00:00Z"`: time.Date(2026, 11, 30, 1, 0, 0, 0, time.FixedZone("", 3600)),
		`{"[a]":1,"[b]":2}`:      map[string]int{"b": 2, "a": 1},
		`{"[2]":true}`:           map[int]bool{2: true},
		`"12345678901234567890"`: *new(big.Int).SetUint64(12345678901234567890),
		`"\u003cfunc\u003e"`:     func() {},
		`[]`:                     []string(nil),
		`18446744073709551615`:   uint64(math.MaxUint64),
		`{"A":1,"B":2}`:          inner{1, 2},
		`{"A":1,"B":2,"Card":"","None":null,"Nothing":{},"name":"x","~Left":3,"~hidden":[4]}`: panel{inner: inner{1, 2}, Name: "x", Left: 3, hidden: []int{4}},
	} {
		require.Equal(t, want, string(p.Paint(v)))
	}
}

func TestASecretIsPaintedAsAHashWithTheKey(t *testing.T) {
	one, other := inspect.Painter{Key: []byte("key")}, inspect.Painter{Key: []byte("another")}
	text := string(one.Paint(panel{Card: "1234"}))
	require.NotContains(t, text, "1234")
	require.Equal(t, text, string(one.Paint(panel{Card: "1234"})))
	require.NotEqual(t, text, string(one.Paint(panel{Card: "1235"})))
	require.NotEqual(t, text, string(other.Paint(panel{Card: "1234"})))
	require.NotEqual(t, one.Paint([]byte(strings.Repeat("a", 100))), one.Paint([]byte(strings.Repeat("a", 99)+"b")))
}

func TestALargeValueAndACircleArePainted(t *testing.T) {
	p := inspect.Painter{}
	l := &looped{}
	l.Next = l
	require.JSONEq(t, `{"Next":"<cycle>"}`, string(p.Paint(l)))
	large := strings.Repeat("x", 33<<20)
	require.Less(t, len(p.Paint(large)), 100)
	require.NotEqual(t, p.Paint(large), p.Paint(large+"y"))
}
