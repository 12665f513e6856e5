package remote

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/remote/internal/wire"
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
	const file = "testdata/forms.txt"
	golden.Check(t, file, []golden.Entry{
		{Name: "hello", Data: encoded(hello{Min: 1, Max: 2, Features: 3, UserMin: 4, UserMax: 5, UserFeatures: 6, Cluster: "c", Addr: "a:1", Incarnation: 7, Want: 8, Session: 9})},
		{Name: "answer", Data: encoded(answer{Min: 1, Max: 2, Features: 3, UserMin: 4, UserMax: 5, UserFeatures: 6, Version: 2, UserVersion: 5, Incarnation: 7, Received: 8})},
		{Name: "refusal", Data: encoded(answer{Min: 1, Max: 2, Incarnation: 7, Refusal: RefusedVersion, Detail: "why"})},
		{Name: "envelope", Data: envelopeFrame("/user/x", 5, p, 0)},
		{Name: "envelope, compressed", Data: envelopeFrame("/user/x", 5, p, 1)},
		{Name: "envelope with metadata", Data: described},
	})
	for _, e := range golden.Read(t, file) {
		switch e.Name {
		case "hello":
			var h hello
			require.NoError(t, codec.Unmarshal(e.Data, &h))
			require.EqualValues(t, 9, h.Session)
		case "answer", "refusal":
			var a answer
			require.NoError(t, codec.Unmarshal(e.Data, &a))
			require.EqualValues(t, 7, a.Incarnation)
		case "envelope", "envelope with metadata":
			env, err := wire.NewEnvelopeReader(1 << 20).Read(e.Data[wire.HeaderSize:])
			require.NoError(t, err)
			require.Equal(t, p, env.Payload)
		}
	}
}

func TestAHelloOfANewerReleaseIsReadWithoutWhatIsNewInIt(t *testing.T) {
	data, err := codec.Marshal(map[uint64]string{8: "a:1", 99: "new"})
	require.NoError(t, err)
	var h hello
	require.NoError(t, codec.Unmarshal(data, &h))
	require.Equal(t, hello{Addr: "a:1"}, h)
}
