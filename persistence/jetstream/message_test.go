package jetstream

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAHeadComesBack(t *testing.T) {
	h := head{
		kind: kindSnapshots, epoch: 7, last: 1 << 40, count: 3, deletedTo: 12, writer: journal.WriterID{1, 2},
		base: 100, index: []pointer{{at: 101, count: 1}, {at: 1 << 33, count: 500}}, state: 99, large: 8,
		snapshots: []snapshotRef{{seq: 5, chunks: []uint64{1, 2, 900}}, {seq: 9, chunks: []uint64{3}}}, chunks: []uint64{4, 8},
	}
	got, rest, err := decodeHead("id", append(h.encode("id"), "rest"...))
	require.NoError(t, err)
	require.Equal(t, h, got)
	require.Equal(t, "rest", string(rest))
}

func TestNoFlippedBitGoesUnnoticed(t *testing.T) {
	records := []journal.Record{
		{Seq: 4, Epoch: 2, Type: "a", Time: time.Unix(1, 2), Tags: []string{"red"}, Meta: map[string]string{"k": "v"}, Payload: []byte("payload")},
		{Seq: 5, Epoch: 2, Type: "b", Payload: []byte("more")},
	}
	h := head{kind: kindRecords, epoch: 2, last: 5, count: 2, base: 3, index: []pointer{{at: 7, count: 3}}}
	message := append(h.encode("id"), encodeRecords("id", records)...)
	require.NoError(t, decodeAll("id", message))
	for i := range message {
		for bit := range 8 {
			message[i] ^= 1 << bit
			require.ErrorIs(t, decodeAll("id", message), journal.ErrCorrupt, "bit %d of byte %d", bit, i)
			message[i] ^= 1 << bit
		}
	}
	for i := range message {
		require.ErrorIs(t, decodeAll("id", message[:i]), journal.ErrCorrupt, "the first %d bytes", i)
	}
	require.ErrorIs(t, decodeAll("other", message), journal.ErrCorrupt, "that of another id")
}

func decodeAll(id string, message []byte) error {
	h, body, err := decodeHead(id, message)
	if err != nil {
		return err
	}
	records := newRecordDecoder(id, &h, body)
	for range h.count {
		if _, err := records.record(); err != nil {
			return err
		}
	}
	return nil
}

func TestADamagedRecordLeavesTheNextReadable(t *testing.T) {
	records := []journal.Record{{Seq: 1, Epoch: 1, Payload: []byte("first")}, {Seq: 2, Epoch: 1, Payload: []byte("second")}}
	body := encodeRecords("id", records)
	body[strings.Index(string(body), "first")]++
	d := newRecordDecoder("id", &head{epoch: 1, last: 2, count: 2}, body)
	_, err := d.record()
	require.ErrorIs(t, err, journal.ErrCorrupt)
	r, err := d.record()
	require.NoError(t, err)
	require.Equal(t, "second", string(r.Payload))
}

func TestATokenIsOneElementOfASubject(t *testing.T) {
	require.Equal(t, "a=2Fb-1_2=2E=C3=A4", token("a/b-1_2.ä"))
	require.Empty(t, token(""))
}

func TestTokensStandForOneIDEach(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"a", "A", "a.b", "a=2Eb", "*", ">", " ", "ü", "\x7f", "=", "=3D", "a_b-c", strings.Repeat("ü", 127)} {
		s := token(id)
		require.NotContains(t, seen, s)
		seen[s] = id
		require.NotRegexp(t, `[^A-Za-z0-9=_-]`, s)
		back, ok := untoken(s)
		require.True(t, ok)
		require.Equal(t, id, back)
	}
	for _, s := range []string{"=", "=4", "=GG", "=2e", "=41", "a.b", "ü"} {
		_, ok := untoken(s)
		require.False(t, ok, "%q", s)
	}
}

func TestSubjectsNameTheirID(t *testing.T) {
	s := subjects{root: "bank"}
	id, err := s.id(s.entity("account/1.5"))
	require.NoError(t, err)
	require.Equal(t, "account/1.5", id)
	for _, subject := range []string{"bank.e.0.0.x", "bank.cut", "other.e.1.2.a", "bank.e.1.2"} {
		_, err := s.id(subject)
		require.ErrorIs(t, err, journal.ErrCorrupt, subject)
	}
}

func TestPointersLeadToEveryMessage(t *testing.T) {
	p := position{}
	var want []uint64
	stored := map[uint64]head{}
	for at := uint64(1); at <= 500; at++ {
		k := kindRecords
		if at%7 == 0 {
			k = kindClaim
		}
		h := p.next(k)
		if k == kindRecords {
			h.count, want = at%3+1, append(want, at)
			h.last += h.count
		}
		require.LessOrEqual(t, len(h.index), maxIndex)
		p = position{head: h, at: at}
		stored[at] = h
	}
	w := walker{from: 1, left: p.last}
	h, at := p.head, p.at
	for w.visit(&h, at) {
		at = h.base
		h = stored[at]
		require.Equal(t, h.last, w.left)
	}
	require.NoError(t, w.err)
	require.Zero(t, w.left)
	require.Len(t, w.places, len(want))
	for i, place := range w.places {
		require.Equal(t, want[len(want)-1-i], place.at)
	}
}
