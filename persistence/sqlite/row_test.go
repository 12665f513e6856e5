package sqlite

import (
	"database/sql"
	"database/sql/driver"
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
		var n insertion
		require.NoError(t, n.encode(id, &r))
		row := stored(n)
		got, err := decodeEvent(id, &row)
		require.NoError(t, err)
		require.Equal(t, r.Checksum(id), got.Checksum(id))
		require.Equal(t, r.Tags, got.Tags)
		require.Equal(t, r.Meta, got.Meta)
		require.True(t, r.Time.Equal(got.Time))
	})
}

// stored returns the row that the insertion of a record with tags and metadata makes.
func stored(n insertion) eventRow {
	text := func(v driver.Value) sql.NullString { return sql.NullString{String: v.(string), Valid: true} }
	return eventRow{
		seq: n.values[1].(int64), epoch: n.values[2].(int64), writer: n.values[3].([]byte),
		sec: n.values[4].(int64), nsec: n.values[5].(int64), typ: n.values[6].(string),
		tags: text(n.values[7]), meta: text(n.values[8]), payload: n.values[9].([]byte), crc: int64(n.crc),
	}
}
