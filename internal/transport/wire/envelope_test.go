package wire

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/metadata"
)

// plainEnvelope is an envelope as the codec sees it.
type plainEnvelope struct {
	_    struct{} `cbor:",toarray"`
	Path string
	UID  uint64
	Type string
	Meta []byte
	Data []byte
}

func TestEnvelopeIsWhatTheCodecMakes(t *testing.T) {
	for _, uid := range []uint64{0, 23, 24, 255, 256, math.MaxUint16, math.MaxUint16 + 1, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64} {
		for _, size := range []int{0, 1, 23, 24, 255, 256, 70_000} {
			plain := plainEnvelope{Path: "/user/" + strings.Repeat("x", min(size, 1000)), UID: uid, Type: "pump", Meta: []byte{}, Data: make([]byte, size)}
			want, err := codec.Marshal(plain)
			require.NoError(t, err)
			payload := extension.Payload{Type: plain.Type, Data: plain.Data}
			frame := envelopeFrame(plain.Path, plain.UID, payload, 0)
			require.Equal(t, AppendFrame(nil, want), frame)
			require.GreaterOrEqual(t, EnvelopeSize(plain.Path, payload), len(frame))

			got, err := NewEnvelopeReader(1 << 20).Read(want)
			require.NoError(t, err)
			require.Equal(t, Envelope{Path: plain.Path, UID: plain.UID, Payload: payload}, got)
		}
	}
}

func TestEnvelopeThatIsCutOffIsMalformed(t *testing.T) {
	body := envelopeFrame("/user/somebody", 1<<40, extension.Payload{Type: "pump", Data: []byte("data")}, 0)[HeaderSize:]
	for cut := range body {
		_, err := NewEnvelopeReader(1 << 20).Read(body[:cut])
		require.ErrorIs(t, err, remote.ErrFrame)
	}
	_, err := NewEnvelopeReader(1 << 20).Read(append(body, 0))
	require.ErrorIs(t, err, remote.ErrFrame)
}

func TestEnvelopeCarriesMetadata(t *testing.T) {
	m := metadata.Metadata{}.With(metadata.Trace, []byte("trace"))
	for _, size := range []int{0, 7} {
		body := envelopeWith(m, "/user/x", extension.Payload{Type: "pump", Data: []byte("data")}, size)
		reader := NewEnvelopeReader(1 << 20)
		got, err := reader.Read(body)
		require.Equal(t, size > 0, err != nil, "what is not compressed cannot be decompressed")
		require.Equal(t, m, got.Metadata)
		require.False(t, got.Unusable)
		got, err = reader.Read(envelopeFrame("/user/x", 0, extension.Payload{Type: "pump", Data: []byte("data")}, 0)[HeaderSize:])
		require.NoError(t, err)
		require.True(t, got.Metadata.IsEmpty(), "the next message has none")
	}
}

func TestMetadataThatIsUnusableCostsNoMessage(t *testing.T) {
	for name, content := range map[string][]byte{
		"too large":            metadata.Metadata{}.With(1000, make([]byte, metadata.MaxSize)).Encoded(),
		"too deep":             append(append([]byte{0xa1, 1}, bytes.Repeat([]byte{0x81}, 100)...), 0),
		"an indefinite length": {0xbf, 1, 2, 0xff},
		"no CBOR":              {0xff},
	} {
		body, err := codec.Marshal(plainEnvelope{Path: "/user/x", Type: "pump", Meta: content, Data: []byte("data")})
		require.NoError(t, err)
		got, err := NewEnvelopeReader(1 << 20).Read(body)
		require.NoError(t, err, name)
		require.True(t, got.Unusable, name)
		require.True(t, got.Metadata.IsEmpty(), name)
		require.Equal(t, "data", string(got.Payload.Data), name)
	}
}

func TestEnvelopeOfANewerReleaseMayHaveFurtherElements(t *testing.T) {
	body, err := codec.Marshal([]any{"/user/x", int64(5), "pump", []byte{}, []byte("data"), int64(0), "new", []any{int64(1), map[string]any{"a": int64(2)}}})
	require.NoError(t, err)
	got, err := NewEnvelopeReader(1 << 20).Read(body)
	require.NoError(t, err)
	require.Equal(t, Envelope{Path: "/user/x", UID: 5, Payload: extension.Payload{Type: "pump", Data: []byte("data")}}, got)
	for cut := range body {
		_, err := NewEnvelopeReader(1 << 20).Read(body[:cut])
		require.ErrorIs(t, err, remote.ErrFrame)
	}
}

// envelopeWith is the body of a frame with metadata.
func envelopeWith(m metadata.Metadata, path string, p extension.Payload, size int) []byte {
	return AppendData(m.Append(BeginEnvelope(nil, path, 0, p.Type, size)), 0, p.Data, size)[HeaderSize:]
}

func TestEnvelopeRefusesTextsThatCannotBeNames(t *testing.T) {
	for name, path := range map[string]string{"too long": strings.Repeat("x", MaxText+1), "not UTF-8": "/user/\xff"} {
		_, err := NewEnvelopeReader(1 << 20).Read(envelopeFrame(path, 0, extension.Payload{Type: "pump"}, 0)[HeaderSize:])
		require.ErrorIs(t, err, remote.ErrFrame, name)
	}
}

func TestEnvelopeReaderKeepsABoundedNumberOfStrings(t *testing.T) {
	r := NewEnvelopeReader(1 << 20)
	for i := range 10 * maxKnown {
		path := "/user/" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune(i+1000))
		got, err := r.Read(envelopeFrame(path, 0, extension.Payload{Type: "pump"}, 0)[HeaderSize:])
		require.NoError(t, err)
		require.Equal(t, path, got.Path)
		require.LessOrEqual(t, len(r.known), maxKnown)
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add(envelopeFrame("/user/somebody", 7, extension.Payload{Type: "pump", Data: []byte("data")}, 0)[HeaderSize:])
	f.Add(envelopeWith(metadata.Metadata{}.With(metadata.Trace, []byte("trace")), "/user/x", extension.Payload{Type: "pump", Data: []byte("data")}, 0))
	f.Add(compressedEnvelope(f, []byte(strings.Repeat("data", 100)), 400))
	f.Add([]byte{0x84, 0x61, 0xff, 0x00, 0x60, 0x40})
	f.Add([]byte{0x84, 0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := NewEnvelopeReader(1 << 20).Read(body)
		if err != nil {
			require.ErrorIs(t, err, remote.ErrFrame)
			return
		}
		if body[0] == codec.MajorArray|compressedFields {
			require.LessOrEqual(t, len(got.Payload.Data), 1<<20)
			return
		}
		var want plainEnvelope
		require.NoError(t, codec.Unmarshal(body, &want))
		require.Equal(t, want.Path, got.Path)
		require.Equal(t, want.UID, got.UID)
		require.Equal(t, want.Type, got.Payload.Type)
		require.Equal(t, string(want.Data), string(got.Payload.Data))
		m, usable := metadata.Decode(want.Meta)
		require.Equal(t, m, got.Metadata)
		require.Equal(t, !usable, got.Unusable)
	})
}

// compressedEnvelope is the body of a frame with data that is compressed, and said to be of size.
func compressedEnvelope(t testing.TB, data []byte, size int) []byte {
	t.Helper()
	var buf bytes.Buffer
	p, was := Compress(&buf, extension.Payload{Type: "bytes", Data: data})
	require.Equal(t, len(data), was)
	return envelopeFrame("/user/somebody", 0, p, size)[HeaderSize:]
}

func TestWhatIsDecompressedIsBounded(t *testing.T) {
	zeros := make([]byte, 10<<20)
	for name, body := range map[string][]byte{
		"more than the limit":     compressedEnvelope(t, zeros, len(zeros)),
		"less than it says":       compressedEnvelope(t, zeros[:1000], 1001),
		"more than it says":       compressedEnvelope(t, zeros, 1000),
		"nothing that was packed": envelopeFrame("/user/x", 0, extension.Payload{Type: "bytes", Data: []byte{7, 7, 7}}, 10)[HeaderSize:],
	} {
		begin := allocated()
		_, err := NewEnvelopeReader(1 << 20).Read(body)
		require.ErrorIs(t, err, remote.ErrFrame, name)
		require.Less(t, allocated()-begin, uint64(4<<20), name)
	}
	got, err := NewEnvelopeReader(1 << 20).Read(compressedEnvelope(t, zeros[:1<<20], 1<<20))
	require.NoError(t, err)
	require.Len(t, got.Payload.Data, 1<<20)
}

// allocated returns how many bytes have ever been.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// envelopeFrame is a frame with the envelope. The data has been compressed unless size is 0.
func envelopeFrame(path string, uid uint64, p extension.Payload, size int) []byte {
	buf := make([]byte, 0, EnvelopeSize(path, p))
	return AppendData(append(BeginEnvelope(buf, path, uid, p.Type, size), metadata.Empty), 0, p.Data, size)
}
