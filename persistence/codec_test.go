package persistence_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journaltest"
	"github.com/understudy-go/understudy/persistence/memory"
)

// mirror is a codec that turns payloads around, and has a check byte.
type mirror struct{ name string }

func (m mirror) Name() string { return m.name }

func (m mirror) Encode(_ persistence.Place, payload []byte) ([]byte, error) {
	if bytes.Equal(payload, []byte("unspeakable")) {
		return nil, errors.New("no")
	}
	turned := make([]byte, 0, len(payload)+1)
	for i := range payload {
		turned = append(turned, payload[len(payload)-1-i])
	}
	return append(turned, byte(len(payload))), nil
}

func (m mirror) Decode(at persistence.Place, data []byte) ([]byte, error) {
	n := len(data) - 1
	if n < 0 || data[n] != byte(n) {
		return nil, errors.New("the length is wrong")
	}
	turned, err := m.Encode(at, data[:n])
	return turned[:n], err
}

func TestAJournalWithACodecObeysTheLaws(t *testing.T) {
	skipped, err := os.ReadFile("memory/testdata/skipped.txt")
	require.NoError(t, err)
	for name, codec := range map[string]persistence.Codec{"mirror": mirror{"mirror"}, "encryption": encryption(t, keyA), "plain": persistence.Plain} {
		t.Run(name, func(t *testing.T) {
			journaltest.Run(t, func(*testing.T) persistence.Journal { return persistence.WithCodec(memory.New(), codec) }, journaltest.Features{Skipped: string(skipped)})
		})
	}
}

// appendOne appends a record under a new claim of id.
func appendOne(t *testing.T, j persistence.Journal, id, payload string) {
	t.Helper()
	claim, err := j.Claim(t.Context(), id, persistence.WriterID{})
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), []persistence.AppendRequest{oneRecord(id, claim, payload)})[0])
}

func oneRecord(id string, claim persistence.Claim, payload string) persistence.AppendRequest {
	return persistence.AppendRequest{ID: id, Epoch: claim.Epoch, Prev: claim.LastSeq, Records: []persistence.Record{
		{Seq: claim.LastSeq + 1, Epoch: claim.Epoch, Type: "event", Payload: []byte(payload)},
	}}
}

// payloadsOfX returns what j has of x, up to an error.
func payloadsOfX(t *testing.T, j persistence.Journal) (all []string, err error) {
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
	inner := memory.New()
	appendOne(t, persistence.WithCodec(inner, mirror{"one"}), "x", "a")
	_, err := payloadsOfX(t, persistence.WithCodec(inner, mirror{"two"}))
	require.ErrorIs(t, err, persistence.ErrCodec)
	require.NotErrorIs(t, err, persistence.ErrCorrupt)
	require.ErrorContains(t, err, `read "x": record 1: persistence: stored by another codec: it was stored by "one", and the journal writes with "two"`)
}

func TestAFormerCodecIsReadAndNotWritten(t *testing.T) {
	inner := memory.New()
	appendOne(t, inner, "x", "a")
	appendOne(t, persistence.WithCodec(inner, mirror{"one"}), "x", "b")
	_, err := payloadsOfX(t, persistence.WithCodec(inner, mirror{"one"}))
	require.ErrorIs(t, err, persistence.ErrCodec)
	require.ErrorContains(t, err, "give WithCodec Plain as a former one")

	two := persistence.WithCodec(inner, mirror{"two"}, mirror{"one"}, persistence.Plain)
	appendOne(t, two, "x", "c")
	all, err := payloadsOfX(t, two)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, all)
	all, err = payloadsOfX(t, inner)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "\xff\x03oneb\x01", "\xff\x03twoc\x01"}, all)
}

func TestAnActorWithoutTheCodecSaysWhichOneItNeeds(t *testing.T) {
	inBubble(t, func(w *world) {
		b := behaviors.EventSourced("words", persistence.WithCodec(w.journal.Journal, mirror{"one"}), "", hear, obey)
		actor.Spawn(w.system, b, "").Tell(say(w.to, "a"))
		w.replies.Expect("a")
		failure := w.failsToRecover()
		require.ErrorIs(w, failure, persistence.ErrCodec)
		require.ErrorContains(w, failure, `it was stored by "one", and the journal has no codec`)
	})
}

func TestWhatCannotBeDecodedIsDamaged(t *testing.T) {
	for _, stored := range []string{"\xff", "\xff\x00", "\xff\x09mirror", "\xff\x06mirror", "\xff\x06mirrora\x07"} {
		inner := memory.New()
		appendOne(t, inner, "x", stored)
		_, err := payloadsOfX(t, persistence.WithCodec(inner, mirror{"mirror"}))
		require.ErrorIs(t, err, persistence.ErrCorrupt, "%q", stored)
	}
}

func TestWhatCannotBeEncodedDoesNotFailItsNeighbours(t *testing.T) {
	j := persistence.WithCodec(memory.New(), mirror{"mirror"})
	var reqs []persistence.AppendRequest
	for _, id := range []string{"x", "y", "z"} {
		claim, err := j.Claim(t.Context(), id, persistence.WriterID{})
		require.NoError(t, err)
		reqs = append(reqs, oneRecord(id, claim, map[string]string{"y": "unspeakable"}[id]))
	}
	errs := j.Append(t.Context(), reqs)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], persistence.ErrInvalid)
	require.ErrorContains(t, errs[1], `append "y": persistence: invalid request: codec "mirror" cannot encode: no`)
	require.NoError(t, errs[2])
	require.Equal(t, "unspeakable", string(reqs[1].Records[0].Payload), "what is passed in stays as it is")
}

func TestPlainRefusesWhatLooksEncoded(t *testing.T) {
	j := persistence.WithCodec(memory.New(), persistence.Plain)
	claim, err := j.Claim(t.Context(), "x", persistence.WriterID{})
	require.NoError(t, err)
	require.ErrorIs(t, j.Append(t.Context(), []persistence.AppendRequest{oneRecord("x", claim, "\xffx")})[0], persistence.ErrInvalid)
}

func TestASnapshotThatCannotBeDecodedIsPassedOver(t *testing.T) {
	inner := memory.New()
	j := persistence.WithCodec(inner, mirror{"mirror"})
	store := j.(persistence.SnapshotStore)
	for range 3 {
		appendOne(t, j, "x", "e")
	}
	for seq := uint64(1); seq <= 3; seq++ {
		require.NoError(t, store.SaveSnapshot(t.Context(), "x", persistence.Snapshot{Seq: seq, Epoch: 3, Payload: fmt.Append(nil, seq)}))
	}
	for _, seq := range []uint64{2, 3} {
		require.NoError(t, inner.SaveSnapshot(t.Context(), "x", persistence.Snapshot{Seq: seq, Epoch: 3, Payload: []byte("\xff\x06mirrorx\x07")}))
	}
	s, ok, skipped, err := store.LoadSnapshot(t.Context(), "x", 10)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "1", string(s.Payload))
	require.Equal(t, []uint64{3, 2}, skipped)

	_, ok, _, err = persistence.WithCodec(inner, mirror{"other"}).(persistence.SnapshotStore).LoadSnapshot(t.Context(), "x", 1)
	require.ErrorIs(t, err, persistence.ErrCodec, "one of another codec is not damaged")
	require.False(t, ok)
}

func TestAJournalWithACodecCanWhatItCouldBefore(t *testing.T) {
	type (
		journal = persistence.Journal
		store   = persistence.SnapshotStore
		floored = persistence.FloorClaimer
		events  = persistence.EventReader
	)
	m := memory.New()
	e := oneEvent{persistence.Entry{ID: "x", Record: persistence.Record{Seq: 1, Payload: []byte("\xff\x06mirrora\x01")}}}
	for _, inner := range []persistence.Journal{
		struct{ journal }{m},
		struct {
			journal
			store
		}{m, m},
		struct {
			journal
			floored
		}{m, m},
		struct {
			journal
			events
		}{m, e},
		struct {
			journal
			store
			floored
		}{m, m, m},
		struct {
			journal
			store
			events
		}{m, m, e},
		struct {
			journal
			floored
			events
		}{m, m, e},
		struct {
			journal
			store
			floored
			events
		}{m, m, m, e},
	} {
		outer := persistence.WithCodec(inner, mirror{"mirror"})
		_, want := inner.(store)
		_, got := outer.(store)
		require.Equal(t, want, got)
		_, want = inner.(floored)
		_, got = outer.(floored)
		require.Equal(t, want, got)
		_, want = inner.(events)
		reader, got := outer.(events)
		require.Equal(t, want, got)
		if !got {
			continue
		}
		for entry, err := range reader.Events(t.Context(), persistence.Query{}, "") {
			require.NoError(t, err)
			require.Equal(t, "a", string(entry.Record.Payload))
		}
		for _, err := range persistence.WithCodec(inner, mirror{"other"}).(events).Events(t.Context(), persistence.Query{}, "") {
			require.ErrorIs(t, err, persistence.ErrCodec)
		}
	}
}

// oneEvent is an EventReader of one event.
type oneEvent struct{ entry persistence.Entry }

func (e oneEvent) Events(context.Context, persistence.Query, persistence.Offset) iter.Seq2[persistence.Entry, error] {
	return func(yield func(persistence.Entry, error) bool) { yield(e.entry, nil) }
}

func TestCodecsThatCannotBeToldApartPanic(t *testing.T) {
	for says, construct := range map[string]func(){
		"journal that is nil": func() { persistence.WithCodec(nil, mirror{"a"}) },
		"codec that is nil":   func() { persistence.WithCodec(memory.New(), mirror{"a"}, nil) },
		"there twice":         func() { persistence.WithCodec(memory.New(), mirror{"a"}, mirror{"a"}) },
		`"", is empty`:        func() { persistence.WithCodec(memory.New(), mirror{""}) },
		"too long":            func() { persistence.WithCodec(memory.New(), mirror{string(make([]byte, 33))}) },
	} {
		var message string
		func() {
			defer func() { message = fmt.Sprint(recover()) }()
			construct()
		}()
		require.Contains(t, message, says)
	}
}
