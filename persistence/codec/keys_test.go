package codec_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/internal/envelope"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestKeysOfCommandsAreEncodedLikeTheirEvents(t *testing.T) {
	inner := journal.NewMemory()
	j, subjects := journalOfSubjects(inner, codec.NewMemoryKeys())
	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	req := oneRecord("x", claim, "payload")
	text := base64.StdEncoding.EncodeToString([]byte("the secret"))
	req.Records[0].Meta = map[string]string{envelope.KeysMeta: text, "other": "o"}
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{req})[0])
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{req})[0], "it is recognised")
	require.Equal(t, text, req.Records[0].Meta[envelope.KeysMeta], "the request is unchanged")

	meta := func(j journal.Journal) map[string]string {
		for r, err := range j.Read(t.Context(), "x", 1, 1) {
			require.NoError(t, err)
			return r.Meta
		}
		return nil
	}
	require.NotEqual(t, text, meta(inner)[envelope.KeysMeta])
	require.Equal(t, req.Records[0].Meta, meta(j))
	require.NoError(t, subjects.Forget(t.Context(), "x"))
	require.Equal(t, map[string]string{"other": "o"}, meta(j))
}
