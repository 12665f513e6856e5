package remote

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/extension"
)

// What writer and reader remember of the message before changes nothing.
func TestEnvelopesAreTheSameWhateverCameBefore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it makes a test repeatable
	e := &Endpoint{cfg: Config{CompressFrom: 1000}}
	d, reader := &draft{}, newEnvelopeReader(1<<20)
	for range 2000 {
		to := extension.Target{Path: []string{"/user/a", "/user/ab", "/user/a/b"}[r.IntN(3)], UID: uint64(r.IntN(2) * 1000)}
		p := extension.Payload{Type: []string{"x", "xy"}[r.IntN(2)], Data: []byte(strings.Repeat("data", r.IntN(3)*r.IntN(300)))}
		d.packed.Reset()
		sent, size := e.compress(&d.packed, p)
		d.write(to, sent, size)
		require.Equal(t, envelopeFrame(to.Path, to.UID, sent, size), d.frame)
		got, err := reader.read(bytes.Clone(d.frame[frameHeader:]))
		require.NoError(t, err)
		require.Equal(t, to.Path, got.path)
		require.Equal(t, to.UID, got.uid)
		require.Equal(t, p.Type, got.payload.Type)
		require.Equal(t, string(p.Data), string(got.payload.Data))
	}
}
