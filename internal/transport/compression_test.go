package transport

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

func TestWhatIsDecompressedDoesNotGather(t *testing.T) {
	s := actor.NewSystem("test")
	defer func() { require.NoError(t, s.Shutdown(context.Background())) }()
	r := newReceiver(&localNode{cfg: Config{MaxMessage: 1 << 20}}, s, &inbound{})
	p, err := extension.Pack(make([]byte, maxGathered))
	require.NoError(t, err)
	r.receive(envelopeFrame("/user/nobody", 0, extension.Payload{Type: "int", Data: []byte{1}}, 0)[wire.HeaderSize:])
	require.Len(t, r.arrived, 1)
	r.receive(envelopeOf(t, "bytes", make([]byte, maxGathered/2)))
	require.Len(t, r.arrived, 2)
	r.receive(envelopeOf(t, "bytes", make([]byte, maxGathered/2)))
	require.Empty(t, r.arrived)
	r.receive(compressedEnvelope(t, p.Data))
	require.Empty(t, r.arrived)
	require.Zero(t, r.bytes)
}

// envelopeOf is the body of a frame with a message.
func envelopeOf(t *testing.T, name string, msg any) []byte {
	t.Helper()
	p, err := extension.Pack(msg)
	require.NoError(t, err)
	require.Equal(t, name, p.Type)
	return envelopeFrame("/user/nobody", 0, p, 0)[wire.HeaderSize:]
}

// envelopeFrame returns a frame with an envelope. The data has been compressed unless size is 0.
func envelopeFrame(path string, uid uint64, p extension.Payload, size int) []byte {
	return wire.AppendData(append(wire.BeginEnvelope(nil, path, uid, p.Type, size), metadata.Empty), 0, p.Data, size)
}

// compressedEnvelope returns the body of a frame with compressed data.
func compressedEnvelope(t *testing.T, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	p, size := wire.Compress(&buf, extension.Payload{Type: "bytes", Data: data})
	require.Equal(t, len(data), size)
	return envelopeFrame("/user/somebody", 0, p, size)[wire.HeaderSize:]
}
