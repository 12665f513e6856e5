package transport

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

// The results do not depend on the earlier message that writer and reader remember.
func TestEnvelopesAreTheSameWhateverCameBefore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it makes a test repeatable
	d, reader := &encodeBuffer{}, wire.NewEnvelopeReader(1<<20)
	for range effort.Count(200, 2000, 20_000) {
		to := extension.Target{Path: []string{"/user/a", "/user/ab", "/user/a/b"}[r.IntN(3)], UID: uint64(r.IntN(2) * 1000)}
		var msg any = strings.Repeat("data", r.IntN(3)*r.IntN(300)*r.IntN(30))
		if r.IntN(2) == 0 {
			msg = []string{msg.(string)} // whose size is not known before
		}
		p, err := extension.Pack(msg)
		require.NoError(t, err)
		d.packed.Reset()
		encoded, err := d.encode(to, msg, metadata.Metadata{})
		require.NoError(t, err)
		require.Equal(t, string(p.Data), string(d.frame[len(d.frame)-encoded:]))
		require.Equal(t, envelopeFrame(to.Path, to.UID, p, 0), d.frame)
		d.compress(to, encoded, metadata.Metadata{}, 1000)
		if len(p.Data) >= 1000 {
			var packed bytes.Buffer
			sent, size := wire.Compress(&packed, p)
			require.Equal(t, envelopeFrame(to.Path, to.UID, sent, size), d.frame)
		}
		got, err := reader.Read(bytes.Clone(d.frame[wire.HeaderSize:]))
		require.NoError(t, err)
		require.Equal(t, to.Path, got.Path)
		require.Equal(t, to.UID, got.UID)
		require.Equal(t, p.Type, got.Payload.Type)
		require.Equal(t, string(p.Data), string(got.Payload.Data))
	}
}
