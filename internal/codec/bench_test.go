package codec

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

type invoice struct {
	ID       int
	Customer string
	Amount   int64
	Tags     []string
	Scan     []byte
}

func init() { Register("codec.invoice", reflect.TypeFor[invoice](), false) }

func BenchmarkBytes(b *testing.B) { benchmark(b, make([]byte, 100)) }

func BenchmarkFloats(b *testing.B) { benchmark(b, make([]float64, 1000)) }

func BenchmarkStruct(b *testing.B) {
	benchmark(b, invoice{ID: 1, Customer: "somebody", Amount: 100_000, Tags: []string{"a", "bc"}, Scan: make([]byte, 20)})
}

// benchmark compares this package with what the library takes.
func benchmark[T any](b *testing.B, v T) {
	b.Helper()
	name, data, err := Encode(v)
	require.NoError(b, err)
	var boxed any = v
	run(b, "Encode/Plan", func(buf *bytes.Buffer) error {
		e, err := EncoderOf(boxed)
		if err == nil {
			_, err = e.Append(buf.AvailableBuffer(), boxed)
		}
		return err
	})
	run(b, "Encode/Library", func(buf *bytes.Buffer) error { return encoding.MarshalToBuffer(boxed, buf) })
	run(b, "Decode/Plan", func(*bytes.Buffer) error { _, err := Decode(name, data); return err })
	run(b, "Decode/Library", func(*bytes.Buffer) error { var v T; return decoding.Unmarshal(data, &v) })
}

func run(b *testing.B, name string, f func(buf *bytes.Buffer) error) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		var buf bytes.Buffer
		buf.Grow(64 << 10)
		b.ReportAllocs()
		for b.Loop() {
			buf.Reset()
			if err := f(&buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}
