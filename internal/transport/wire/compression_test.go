package wire

import (
	"bytes"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
)

func TestWhatCompressesKeepsNothingOfWhatItHasCompressed(t *testing.T) {
	data := bytes.Repeat([]byte("data"), 100_000)
	var packed bytes.Buffer
	p, size := Compress(&packed, extension.Payload{Data: data})
	require.Equal(t, len(data), size)
	out, err := inflate(p.Data, uint64(size), 1<<20)
	require.NoError(t, err)
	require.Equal(t, data, out)
	gone := weak.Make(&p.Data[0])
	p, packed = extension.Payload{}, bytes.Buffer{}
	runtime.GC() // once: what is in a pool survives that
	require.Nil(t, gone.Value())
	runtime.KeepAlive(&packed)
}
