package codec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
)

// mirror is a codec that turns payloads around, and has a check byte.
type mirror struct{ name string }

func (m mirror) Name() string { return m.name }

func (m mirror) Encode(_ codec.PayloadID, payload []byte) ([]byte, error) {
	if bytes.Equal(payload, []byte("unspeakable")) {
		return nil, errors.New("no")
	}
	turned := make([]byte, 0, len(payload)+1)
	for i := range payload {
		turned = append(turned, payload[len(payload)-1-i])
	}
	return append(turned, byte(len(payload))), nil
}

func (m mirror) Decode(at codec.PayloadID, data []byte) ([]byte, error) {
	n := len(data) - 1
	if n < 0 || data[n] != byte(n) {
		return nil, errors.New("the length is wrong")
	}
	turned, err := m.Encode(at, data[:n])
	return turned[:n], err
}

func TestAJournalWithACodecObeysTheLaws(t *testing.T) {
	skipped, err := os.ReadFile("../journal/testdata/skipped.txt")
	require.NoError(t, err)
	skips := strings.ReplaceAll(string(skipped), "*journal.Memory", "*codec.wrapper")
	for name, c := range map[string]codec.Codec{"mirror": mirror{"mirror"}, "encryption": encryption(t, keyA), "plain": codec.Plain} {
		t.Run(name, func(t *testing.T) {
			journaltest.Run(t, func(*testing.T) journal.Journal { return codec.Wrap(journal.NewMemory(), c) }, journaltest.Features{Skipped: skips})
		})
	}
}

func appendOne(t *testing.T, j journal.Journal, id, payload string) {
	t.Helper()
	claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{oneRecord(id, claim, payload)})[0])
}

func oneRecord(id string, claim journal.Claim, payload string) journal.AppendRequest {
	return journal.AppendRequest{ID: id, Epoch: claim.Epoch, Prev: claim.LastSeq, Records: []journal.Record{
		{Seq: claim.LastSeq + 1, Epoch: claim.Epoch, Type: "event", Payload: []byte(payload)},
	}}
}

func payloadsOfX(t *testing.T, j journal.Journal) (all []string, err error) {
	t.Helper()
	for r, err := range j.Read(t.Context(), "x", 1, 1<<62) {
		if err != nil {
			return all, err
		}
		all = append(all, string(r.Payload))
	}
	return all, nil
}

func TestAnotherCodecIsAnErrorThatNamesTheOneThatIsNeeded(t *testing.T) {
	inner := journal.NewMemory()
	appendOne(t, codec.Wrap(inner, mirror{"one"}), "x", "a")
	_, err := payloadsOfX(t, codec.Wrap(inner, mirror{"two"}))
	require.ErrorIs(t, err, journal.ErrCodec)
	require.NotErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, `read "x": record 1: persistence: stored by another codec: it was stored by "one", and the journal writes with "two"`)
}

func TestAFormerCodecIsReadAndNotWritten(t *testing.T) {
	inner := journal.NewMemory()
	appendOne(t, inner, "x", "a")
	appendOne(t, codec.Wrap(inner, mirror{"one"}), "x", "b")
	_, err := payloadsOfX(t, codec.Wrap(inner, mirror{"one"}))
	require.ErrorIs(t, err, journal.ErrCodec)
	require.ErrorContains(t, err, "give codec.Wrap Plain as a former codec")

	two := codec.Wrap(inner, mirror{"two"}, mirror{"one"}, codec.Plain)
	appendOne(t, two, "x", "c")
	all, err := payloadsOfX(t, two)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, all)
	all, err = payloadsOfX(t, inner)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "\xff\x03oneb\x01", "\xff\x03twoc\x01"}, all)
}

func TestWhatCannotBeDecodedIsDamaged(t *testing.T) {
	for _, stored := range []string{"\xff", "\xff\x00", "\xff\x09mirror", "\xff\x06mirror", "\xff\x06mirrora\x07"} {
		inner := journal.NewMemory()
		appendOne(t, inner, "x", stored)
		_, err := payloadsOfX(t, codec.Wrap(inner, mirror{"mirror"}))
		require.ErrorIs(t, err, journal.ErrCorrupt, "%q", stored)
	}
}

func TestWhatCannotBeEncodedDoesNotFailItsNeighbours(t *testing.T) {
	j := codec.Wrap(journal.NewMemory(), mirror{"mirror"})
	var reqs []journal.AppendRequest
	for _, id := range []string{"x", "y", "z"} {
		claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		reqs = append(reqs, oneRecord(id, claim, map[string]string{"y": "unspeakable"}[id]))
	}
	errs := j.Append(t.Context(), reqs)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], journal.ErrInvalid)
	require.ErrorContains(t, errs[1], `append "y": persistence: invalid request: codec "mirror" cannot encode: no`)
	require.NoError(t, errs[2])
	require.Equal(t, "unspeakable", string(reqs[1].Records[0].Payload), "what is passed in stays as it is")
}

func TestPlainRefusesWhatLooksEncoded(t *testing.T) {
	j := codec.Wrap(journal.NewMemory(), codec.Plain)
	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.ErrorIs(t, j.Append(t.Context(), []journal.AppendRequest{oneRecord("x", claim, "\xffx")})[0], journal.ErrInvalid)
}

func TestASnapshotThatCannotBeDecodedIsPassedOver(t *testing.T) {
	inner := journal.NewMemory()
	j := codec.Wrap(inner, mirror{"mirror"})
	store := j.(journal.SnapshotStore)
	for range 3 {
		appendOne(t, j, "x", "e")
	}
	for seq := uint64(1); seq <= 3; seq++ {
		require.NoError(t, store.SaveSnapshot(t.Context(), "x", journal.Snapshot{Seq: seq, Epoch: 3, Payload: fmt.Append(nil, seq)}))
	}
	for _, seq := range []uint64{2, 3} {
		require.NoError(t, inner.SaveSnapshot(t.Context(), "x", journal.Snapshot{Seq: seq, Epoch: 3, Payload: []byte("\xff\x06mirrorx\x07")}))
	}
	s, ok, skipped, err := store.LoadSnapshot(t.Context(), "x", 10)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "1", string(s.Payload))
	require.Equal(t, []uint64{3, 2}, skipped)

	_, ok, _, err = codec.Wrap(inner, mirror{"other"}).(journal.SnapshotStore).LoadSnapshot(t.Context(), "x", 1)
	require.ErrorIs(t, err, journal.ErrCodec, "one of another codec is not damaged")
	require.False(t, ok)
}

func TestAJournalWithACodecCanWhatItCouldBefore(t *testing.T) {
	type (
		plain  = journal.Journal
		store  = journal.SnapshotStore
		events = journal.EventReader
	)
	m := journal.NewMemory()
	e := oneEvent{journal.Entry{ID: "x", Record: journal.Record{Seq: 1, Payload: []byte("\xff\x06mirrora\x01")}}}
	for _, inner := range []journal.Journal{
		struct{ plain }{m},
		struct {
			plain
			store
		}{m, m},
		struct {
			plain
			events
		}{m, e},
		struct {
			plain
			store
			events
		}{m, m, e},
	} {
		outer := codec.Wrap(inner, mirror{"mirror"})
		_, want := inner.(store)
		_, got := journal.As[store](outer)
		require.Equal(t, want, got)
		_, nested := journal.As[store](codec.Wrap(outer, mirror{"mirror"}))
		require.Equal(t, want, nested)
		_, err := outer.(store).Snapshots(t.Context(), "x")
		require.Equal(t, want, !errors.Is(err, errors.ErrUnsupported))

		_, want = inner.(events)
		_, got = journal.As[events](outer)
		require.Equal(t, want, got)
		reader := outer.(events)
		for entry, err := range reader.Events(t.Context(), journal.Query{}, "") {
			if !want {
				require.ErrorIs(t, err, errors.ErrUnsupported)
				require.Nil(t, reader.Appended())
				continue
			}
			require.NoError(t, err)
			require.Equal(t, "a", string(entry.Record.Payload))
		}
		if !want {
			continue
		}
		for _, err := range codec.Wrap(inner, mirror{"other"}).(events).Events(t.Context(), journal.Query{}, "") {
			require.ErrorIs(t, err, journal.ErrCodec)
		}
	}
}

// oneEvent is an EventReader of one event.
type oneEvent struct{ entry journal.Entry }

func (oneEvent) Appended() <-chan struct{} { return nil }

func (e oneEvent) Events(context.Context, journal.Query, journal.Offset) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) { yield(e.entry, nil) }
}

func TestCodecsThatCannotBeToldApartPanic(t *testing.T) {
	for says, construct := range map[string]func(){
		"journal that is nil": func() { codec.Wrap(nil, mirror{"a"}) },
		"codec that is nil":   func() { codec.Wrap(journal.NewMemory(), mirror{"a"}, nil) },
		"there twice":         func() { codec.Wrap(journal.NewMemory(), mirror{"a"}, mirror{"a"}) },
		`"", is empty`:        func() { codec.Wrap(journal.NewMemory(), mirror{""}) },
		"too long":            func() { codec.Wrap(journal.NewMemory(), mirror{string(make([]byte, 33))}) },
	} {
		var message string
		func() {
			defer func() { message = fmt.Sprint(recover()) }()
			construct()
		}()
		require.Contains(t, message, says)
	}
}

// silent is a journal that notifies nobody.
type silent struct{ *journal.Memory }

func (silent) Appended() <-chan struct{} { return nil }

func TestAJournalWithACodecPassesItsHintsOn(t *testing.T) {
	inner := journal.NewMemory()
	j := codec.Wrap(inner, codec.Plain)
	appended := j.(journal.EventReader).Appended()
	requireSilent(t, appended)
	inner.Notify()
	<-appended

	j = codec.Wrap(silent{inner}, codec.Plain)
	require.Nil(t, j.(journal.EventReader).Appended())
}

func requireSilent(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
		require.Fail(t, "it has notified")
	default:
	}
}
