package formats

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/json"
	"github.com/understudy-go/understudy/internal/codec"
)

type (
	jsonLine struct {
		Item string `json:"item"`
		N    int64  `json:"n"`
		At   time.Time
	}
	jsonCart struct{ Lines []jsonLine }
)

func init() {
	actor.RegisterType[jsonLine]("formats.json-line", actor.WithCodec(json.Codec{}))
	actor.RegisterType[jsonCart]("formats.json-cart", actor.WithCodec(json.Codec{}))
}

// The program before had no codec.
type (
	cborLine jsonLine
	cborCart struct{ Lines []cborLine }
)

var inJSON = format[jsonLine, jsonCart]{
	codec: "json",
	event: func(i int) jsonLine {
		return jsonLine{"tea \u00e9 <&>", int64(i) - 1<<53, time.Date(2026, 11, 30, 1, 2, 3, i, time.UTC)}
	},
	apply: func(c jsonCart, l jsonLine) jsonCart { return jsonCart{append(slices.Clip(c.Lines), l)} },
	older: func(v any) ([]byte, error) {
		if line, ok := v.(jsonLine); ok {
			return codec.Marshal(cborLine(line))
		}
		var cart cborCart
		for _, line := range v.(jsonCart).Lines {
			cart.Lines = append(cart.Lines, cborLine(line))
		}
		return codec.Marshal(cart)
	},
	same: func(t *testing.T, want, got jsonCart) {
		t.Helper()
		require.Equal(t, want, got)
	},
}

func TestJSONInEachStore(t *testing.T) { inEachStore(t, inJSON) }
