package sqlite

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func FuzzRowsBecomeTheSameRecords(f *testing.F) {
	f.Add("counter", int64(0), int64(0), "type", "tag", "key", "value", []byte("payload"))
	f.Add("größe", int64(-1), int64(1), "", "<&>", "\u2028", `"\`, []byte{0})
	f.Fuzz(func(t *testing.T, id string, sec, nsec int64, typ, tag, key, value string, payload []byte) {
		for _, s := range []string{id, typ, tag, key, value} {
			if !utf8.ValidString(s) {
				t.Skip("validation refuses it")
			}
		}
		r := journal.Record{
			Seq: 7, Epoch: 3, Writer: journal.WriterID{1, 255}, Time: time.Unix(sec, nsec).UTC(),
			Type: typ, Tags: []string{tag, key}, Meta: map[string]string{key: value}, Payload: payload,
		}
		row, err := encodeEvent(id, &r)
		require.NoError(t, err)
		got, err := decodeEvent(id, &row)
		require.NoError(t, err)
		require.Equal(t, r.Checksum(id), got.Checksum(id))
		require.Equal(t, r.Tags, got.Tags)
		require.Equal(t, r.Meta, got.Meta)
		require.True(t, r.Time.Equal(got.Time))
	})
}
