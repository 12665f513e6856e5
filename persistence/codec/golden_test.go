package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestEncryptedPayloadsOfAllVersionsAreRead(t *testing.T) {
	then := golden.Hex(t, "encryption-1", func() []byte { return encryptedNow(t) })
	inner := journal.NewMemory()
	claim, err := inner.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	req := journal.AppendRequest{ID: "x", Epoch: claim.Epoch, Records: []journal.Record{{Seq: 1, Epoch: claim.Epoch, Type: "event", Payload: then}}}
	require.NoError(t, inner.Append(t.Context(), []journal.AppendRequest{req})[0])
	for r, err := range codec.Wrap(inner, encryption(t, keyA)).Read(t.Context(), "x", 1, 1) {
		require.NoError(t, err)
		require.Equal(t, "the secret", string(r.Payload))
	}
	require.Equal(t, then, encryptedNow(t), "payloads are now stored in another form: give it another name")
}

// encryptedNow returns an encrypted payload as a journal of this build stores it. Encryption is
// deterministic.
func encryptedNow(t *testing.T) []byte {
	t.Helper()
	inner := journal.NewMemory()
	j := codec.Wrap(inner, encryption(t, keyA))
	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	req := journal.AppendRequest{ID: "x", Epoch: claim.Epoch, Records: []journal.Record{{Seq: 1, Epoch: claim.Epoch, Type: "event", Payload: []byte("the secret")}}}
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{req})[0])
	for r, err := range inner.Read(t.Context(), "x", 1, 1) {
		require.NoError(t, err)
		return r.Payload
	}
	t.Fatal("nothing was stored")
	return nil
}
