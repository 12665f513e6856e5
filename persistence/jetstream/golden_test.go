package jetstream

import (
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/persistence/journal"
)

// goldenHeads has a head of each kind, with all fields that the kind has.
func goldenHeads() map[string]head {
	index := []pointer{{at: 101, count: 1}, {at: 1 << 33, count: 500}}
	snapshots := []snapshotRef{{seq: 5, chunks: []uint64{1, 2, 900}}, {seq: 9, chunks: []uint64{3}}}
	return map[string]head{
		"records":   {kind: kindRecords, epoch: 7, last: 1 << 40, count: 2, deletedTo: 12, base: 100, index: index, state: 99, large: 8, snapshots: []snapshotRef{}, chunks: []uint64{}},
		"large":     {kind: kindRecords, epoch: 7, last: 1 << 40, count: 2, base: 100, index: index, large: 8, snapshots: []snapshotRef{}, chunks: []uint64{4, 8}},
		"claim":     {kind: kindClaim, epoch: 2 << 32, last: 12, writer: journal.WriterID{1, 2}, index: index, snapshots: []snapshotRef{}, chunks: []uint64{}},
		"forgotten": {kind: kindForgotten, epoch: 8, deletedTo: 1, index: []pointer{}, snapshots: []snapshotRef{}, chunks: []uint64{}},
		"deletion":  {kind: kindDeletion, epoch: 7, last: 12, deletedTo: 11, index: []pointer{}, snapshots: snapshots, chunks: []uint64{}},
		"snapshots": {kind: kindSnapshots, epoch: 7, last: 12, index: []pointer{}, snapshots: snapshots, chunks: []uint64{}},
	}
}

func TestHeadsOfAllVersionsAreRead(t *testing.T) {
	for name, h := range goldenHeads() {
		then := golden.Hex(t, "head-1-"+name, func() []byte { return h.encode("account-1") })
		got, rest, err := decodeHead("account-1", then)
		require.NoError(t, err, name)
		require.Empty(t, rest)
		require.Equal(t, h, got, name)
		require.Equal(t, then, h.encode("account-1"), "%s: it is now stored in another form: give it a new version", name)
	}
}

func TestRecordsOfAllVersionsAreRead(t *testing.T) {
	begin := time.Date(2026, 11, 25, 12, 30, 0, 123456789, time.UTC)
	h := head{kind: kindRecords, epoch: 7, last: 13, count: 2}
	records := []journal.Record{
		{Seq: 12, Epoch: 7, Writer: journal.WriterID{1, 2}, Time: begin, Type: "bank.deposited", Tags: []string{"big", "größer"}, Meta: map[string]string{"trace": "t-1"}, Payload: []byte{0xa1, 0x61, 'n', 7}},
		{Seq: 13, Epoch: 7, Time: time.Unix(-1, 5).UTC(), Type: "bank.closed", Payload: []byte{0xa0}},
	}
	then := golden.Hex(t, "records-1", func() []byte { return encodeRecords("account-1", records) })
	d := newRecordDecoder("account-1", &h, then)
	for _, want := range records {
		got, err := d.record()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Equal(t, then, encodeRecords("account-1", records), "records are now stored in another form: give messages a new version")
}

func TestSnapshotsOfAllVersionsAreRead(t *testing.T) {
	want := journal.Snapshot{Seq: 5, Epoch: 7, Time: time.Date(2026, 11, 25, 12, 30, 0, 5, time.UTC), Type: "bank.account", Payload: []byte{0xa1, 0x61, 'n', 8}}
	then := golden.Hex(t, "snapshot-1", func() []byte { return encodeSnapshot("account-1", &want) })
	got, err := decodeSnapshot("account-1", 5, then)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, then, encodeSnapshot("account-1", &want), "snapshots are now stored in another form: give messages a new version")
}

func TestAMessageOfANewerVersionIsRefused(t *testing.T) {
	h := head{kind: kindClaim, epoch: 1}
	message := h.encode("id")
	message = reseal("id", message, func(body []byte) { body[0] = version + 1 })
	_, _, err := decodeHead("id", message)
	require.ErrorIs(t, err, ErrNewerSchema)
	require.NotErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, "a message has version 2, this program knows 1; use a newer build")
	for _, change := range []func([]byte){func(b []byte) { b[0] = 0 }, func(b []byte) { b[1] = 0 }, func(b []byte) { b[1] = 9 }} {
		_, _, err = decodeHead("id", reseal("id", h.encode("id"), change))
		require.ErrorIs(t, err, journal.ErrCorrupt)
	}
}

// reseal changes the body of a message without records, and corrects its checksum.
func reseal(id string, message []byte, change func(body []byte)) []byte {
	d := decoder{rest: message}
	change(d.take(d.uvarint()))
	covered := message[: len(message)-len(d.rest) : len(message)-len(d.rest)]
	return binary.LittleEndian.AppendUint32(covered, headSum(id, covered))
}

func TestRegisteredReadersOfEveryVersionAreRead(t *testing.T) {
	want := []storedReader{
		{Name: "größer/0", From: 512, To: 1024, Offset: "js:bank:7:1", Time: time.Date(2026, 11, 30, 8, 0, 0, 1, time.UTC)},
		{Name: "sales", To: 1024, Time: time.Unix(5, 0).UTC()},
	}
	then := golden.Hex(t, "readers-1", func() []byte {
		data, err := encodeReaders(want)
		require.NoError(t, err)
		return data
	})
	got, err := decodeReaders(then)
	require.NoError(t, err)
	require.Equal(t, want, got)
	now, err := encodeReaders(want)
	require.NoError(t, err)
	require.Equal(t, then, now)

	then[len(then)/2]++
	_, err = decodeReaders(then)
	require.ErrorIs(t, err, journal.ErrCorrupt)
	later := []byte(`{"v":2,"others":[]}`)
	_, err = decodeReaders(append(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(later, castagnoli)), later...))
	require.ErrorIs(t, err, ErrNewerSchema)
}
