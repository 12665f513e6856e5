package remote

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

func TestWhatIsDecompressedDoesNotGather(t *testing.T) {
	s := actor.NewSystem("test")
	defer func() { require.NoError(t, s.Shutdown(context.Background())) }()
	r := &receiver{end: &Endpoint{cfg: Config{MaxMessage: 1 << 20}}, sys: s, reader: newEnvelopeReader(1 << 20), parts: &joiner{}}
	p, err := extension.Pack(make([]byte, maxGathered))
	require.NoError(t, err)
	r.receive(envelopeFrame("/user/nobody", 0, extension.Payload{Type: "int", Data: []byte{1}}, 0)[frameHeader:])
	require.Len(t, r.decoded, 1)
	r.receive(envelopeOf(t, "bytes", make([]byte, maxGathered/2)))
	require.Len(t, r.decoded, 2)
	r.receive(envelopeOf(t, "bytes", make([]byte, maxGathered/2)))
	require.Empty(t, r.decoded)
	r.receive(compressedEnvelope(t, p.Data, len(p.Data)))
	require.Empty(t, r.decoded)
	require.Zero(t, r.bytes)
}

// envelopeOf is the body of a frame with a message.
func envelopeOf(t *testing.T, name string, msg any) []byte {
	t.Helper()
	p, err := extension.Pack(msg)
	require.NoError(t, err)
	require.Equal(t, name, p.Type)
	return envelopeFrame("/user/nobody", 0, p, 0)[frameHeader:]
}

func TestWhatCompressesKeepsNothingOfWhatItHasCompressed(t *testing.T) {
	data := bytes.Repeat([]byte("data"), 100_000)
	var packed bytes.Buffer
	e := &Endpoint{cfg: Config{CompressFrom: 1}}
	p, size := e.compress(&packed, extension.Payload{Data: data})
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
