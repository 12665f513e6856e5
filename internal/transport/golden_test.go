package transport

import (
	"testing"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

// Every release must read the hello, the answer and the envelopes of every other one.
func TestNeitherHandshakeNorEnvelopeChangesItsEncoding(t *testing.T) {
	encoded := func(v any) []byte {
		data, err := codec.Marshal(v)
		require.NoError(t, err)
		return data
	}
	p := extension.Payload{Type: "int", Data: []byte{7}}
	m := metadata.Metadata{}.With(metadata.Trace, []byte("trace"))
	described := wire.AppendData(m.Append(wire.BeginEnvelope(nil, "/user/x", 5, p.Type, 0)), 0, p.Data, 0)
	greets := hello{Min: 1, Max: 2, Features: 3, UserMin: 4, UserMax: 5, UserFeatures: 6, Cluster: "c", Addr: "a:1", Incarnation: 7, Want: 8, Session: 9}
	accepts := answer{Min: 1, Max: 2, Features: 3, UserMin: 4, UserMax: 5, UserFeatures: 6, Version: 2, UserVersion: 5, Incarnation: 7, Received: 8}
	refuses := answer{Min: 1, Max: 2, Incarnation: 7, Refusal: remote.RefusedVersion, Detail: "why"}
	for name, made := range map[string][]byte{
		"hello":                  encoded(greets),
		"answer":                 encoded(accepts),
		"refusal":                encoded(refuses),
		"envelope":               envelopeFrame("/user/x", 5, p, 0),
		"envelope-compressed":    envelopeFrame("/user/x", 5, p, 1),
		"envelope-with-metadata": described,
	} {
		require.Equal(t, golden.Hex(t, name, func() []byte { return made }), made, "%s: add a field at the end, or a version", name)
	}
	var h hello
	require.NoError(t, codec.Unmarshal(golden.Hex(t, "hello", nil), &h))
	require.Equal(t, greets, h)
	var a answer
	require.NoError(t, codec.Unmarshal(golden.Hex(t, "refusal", nil), &a))
	require.Equal(t, refuses, a)
	env, err := wire.NewEnvelopeReader(1 << 20).Read(golden.Hex(t, "envelope-with-metadata", nil)[wire.HeaderSize:])
	require.NoError(t, err)
	require.Equal(t, p, env.Payload)
	require.Equal(t, m, env.Metadata)
}

func TestAHelloOfANewerReleaseIsReadWithoutWhatIsNewInIt(t *testing.T) {
	data, err := codec.Marshal(map[uint64]string{8: "a:1", 99: "new"})
	require.NoError(t, err)
	var h hello
	require.NoError(t, codec.Unmarshal(data, &h))
	require.Equal(t, hello{Addr: "a:1"}, h)
}
