package protobuf_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/json"
	"github.com/understudy-go/understudy/actor/codec/protobuf/internal/shop"
	"github.com/understudy-go/understudy/internal/payload"
)

// The content of shop.Cart in Go.
type (
	plainLine struct {
		Item   string
		Count  int64
		Weight float64
	}
	plainCart struct{ Lines []plainLine }
	jsonCart  struct{ Lines []plainLine }
)

func init() {
	actor.RegisterType[plainCart]("bench.plain")
	actor.RegisterType[jsonCart]("bench.json", actor.WithCodec(json.Codec{}))
}

// One message or event is encoded, and decoded again.
func BenchmarkFormats(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		cart := &shop.Cart{}
		var lines []plainLine
		for i := range n {
			item := fmt.Sprintf("item number %d", i)
			cart.Lines = append(cart.Lines, &shop.Line{Item: item, Count: int64(i), Weight: 0.1 * float64(i)})
			lines = append(lines, plainLine{item, int64(i), 0.1 * float64(i)})
		}
		for _, of := range []struct {
			format string
			v      any
		}{{"CBOR", plainCart{lines}}, {"protobuf", cart}, {"JSON", jsonCart{lines}}} {
			b.Run(fmt.Sprintf("%d lines/%s", n, of.format), func(b *testing.B) {
				b.ReportAllocs()
				size := 0
				for b.Loop() {
					p, err := payload.Pack(of.v)
					if err == nil {
						_, err = payload.Unpack(p, nil)
					}
					if err != nil {
						require.NoError(b, err)
					}
					size = len(p.Data)
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}
