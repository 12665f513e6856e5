package remote

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
)

// plainEnvelope is an envelope as the codec sees it.
type plainEnvelope struct {
	_    struct{} `cbor:",toarray"`
	Path string
	UID  uint64
	Type string
	Data []byte
}

func TestEnvelopeIsWhatTheCodecMakes(t *testing.T) {
	for _, uid := range []uint64{0, 23, 24, 255, 256, math.MaxUint16, math.MaxUint16 + 1, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64} {
		for _, size := range []int{0, 1, 23, 24, 255, 256, 70_000} {
			plain := plainEnvelope{Path: "/user/" + strings.Repeat("x", min(size, 1000)), UID: uid, Type: "pump", Data: make([]byte, size)}
			want, err := codec.Marshal(plain)
			require.NoError(t, err)
			payload := actor.Payload{Type: plain.Type, Data: plain.Data}
			frame := appendEnvelope(nil, plain.Path, plain.UID, payload)
			require.Equal(t, appendFrame(nil, want), frame)
			require.GreaterOrEqual(t, envelopeSize(plain.Path, payload), len(frame))

			got, err := newEnvelopeReader().read(want)
			require.NoError(t, err)
			require.Equal(t, envelope{plain.Path, plain.UID, payload}, got)
		}
	}
}

func TestEnvelopeThatIsCutOffIsMalformed(t *testing.T) {
	body := appendEnvelope(nil, "/user/somebody", 1<<40, actor.Payload{Type: "pump", Data: []byte("data")})[frameHeader:]
	for cut := range body {
		_, err := newEnvelopeReader().read(body[:cut])
		require.ErrorIs(t, err, ErrFrame)
	}
	_, err := newEnvelopeReader().read(append(body, 0))
	require.ErrorIs(t, err, ErrFrame)
}

func TestEnvelopeRefusesTextsThatCannotBeNames(t *testing.T) {
	for name, path := range map[string]string{"too long": strings.Repeat("x", maxText+1), "not UTF-8": "/user/\xff"} {
		_, err := newEnvelopeReader().read(appendEnvelope(nil, path, 0, actor.Payload{Type: "pump"})[frameHeader:])
		require.ErrorIs(t, err, ErrFrame, name)
	}
}

func TestEnvelopeReaderKeepsABoundedNumberOfStrings(t *testing.T) {
	r := newEnvelopeReader()
	for i := range 10 * maxKnown {
		path := "/temp/" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune(i+1000))
		got, err := r.read(appendEnvelope(nil, path, 0, actor.Payload{Type: "pump"})[frameHeader:])
		require.NoError(t, err)
		require.Equal(t, path, got.path)
		require.LessOrEqual(t, len(r.known), maxKnown)
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add(appendEnvelope(nil, "/user/somebody", 7, actor.Payload{Type: "pump", Data: []byte("data")})[frameHeader:])
	f.Add([]byte{0x84, 0x61, 0xff, 0x00, 0x60, 0x40})
	f.Add([]byte{0x84, 0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := newEnvelopeReader().read(body)
		if err != nil {
			require.ErrorIs(t, err, ErrFrame)
			return
		}
		var want plainEnvelope
		require.NoError(t, codec.Unmarshal(body, &want))
		require.Equal(t, want.Path, got.path)
		require.Equal(t, want.UID, got.uid)
		require.Equal(t, want.Type, got.payload.Type)
		require.Equal(t, string(want.Data), string(got.payload.Data))
	})
}
