package journaltest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var forgetLaws = []law{
	{"AForgottenIDHasNothing", func(e *env) {
		w := e.forgettable()
		other := e.writer(w.j, "y")
		other.append("keep", "this")
		w.fill(3)
		w.forget()
		w.requireNothing()
		require.Equal(e, []string{"keep", "this"}, e.payloads(w.j, "y"))
		other.append("and this")
		w.forget()
		w.requireNothing()
	}},
	{"AForgottenIDIsNotWritten", func(e *env) {
		w := e.forgettable()
		w.fill(2)
		w.forget()
		require.ErrorIs(e, w.try(w.next("c")), journal.ErrFenced)
		require.ErrorIs(e, w.try(w.next("c")), journal.ErrForgotten)
		require.ErrorIs(e, w.try(request("x", w.claim.Epoch, 0, "c")), journal.ErrFenced)
		require.ErrorIs(e, w.j.DeleteTo(e.Context(), "x", w.claim.Epoch, 1), journal.ErrFenced)
		for _, b := range []journal.Bounds{{}, {Least: 1 << 40}} {
			_, err := w.j.Claim(e.Context(), "x", journal.WriterID{1}, b)
			require.ErrorIs(e, err, journal.ErrForgotten)
		}
		if store, ok := journal.As[journal.SnapshotStore](w.j); ok {
			s := journal.Snapshot{Seq: 1, Epoch: w.claim.Epoch, Type: "state"}
			require.ErrorIs(e, store.SaveSnapshot(e.Context(), "x", s), journal.ErrFenced)
		}
		w.requireNothing()
	}},
	{"ARevivedIDBeginsAnew", func(e *env) {
		w := e.forgettable()
		w.fill(3)
		w.forget()
		require.NoError(e, w.store.Revive(e.Context(), "x"))
		require.ErrorIs(e, w.try(w.next("late")), journal.ErrFenced)
		heir := e.writer(w.j, "x")
		require.Greater(e, heir.claim.Epoch, w.claim.Epoch)
		require.Zero(e, heir.claim.LastSeq)
		require.Zero(e, heir.claim.DeletedTo)
		heir.append("new", "life")
		require.Equal(e, []string{"new", "life"}, e.payloads(w.j, "x"))
		require.ErrorIs(e, w.try(request("x", w.claim.Epoch, 2, "late")), journal.ErrFenced)
		require.NoError(e, w.j.DeleteTo(e.Context(), "x", heir.claim.Epoch, 1))
		require.Equal(e, []string{"life"}, e.payloads(w.j, "x"))
		require.NoError(e, w.store.Revive(e.Context(), "x"), "it is left alone")
		heir.append("on")
		w.forget()
		w.requireNothing()
	}},
	{"AnIDThatWasNeverClaimedIsLeftAlone", func(e *env) {
		w := e.forgettable()
		require.NoError(e, w.store.Forget(e.Context(), "other"))
		require.NoError(e, w.store.Revive(e.Context(), "another"))
		require.Zero(e, e.writer(w.j, "other").claim.LastSeq)
		require.ErrorIs(e, w.store.Forget(e.Context(), ""), journal.ErrInvalid)
		require.ErrorIs(e, w.store.Revive(e.Context(), "\xff"), journal.ErrInvalid)
	}},
	{"AnIDWithoutRecordsCanBeForgotten", func(e *env) {
		w := e.forgettable()
		w.forget()
		w.requireNothing()
	}},
	{"ReadersHearWhatIsForgotten", func(e *env) {
		w := e.forgettable()
		reader, ok := journal.As[journal.EventReader](w.j)
		if !ok {
			e.skip(fmt.Sprintf("%T is not an event reader", w.j))
		}
		w.fill(2)
		other := e.writer(w.j, "y")
		other.append("a")
		before := heard(e, reader, journal.Query{}, "")
		require.Equal(e, []string{"x/1", "x/2", "y/1"}, ids(before))
		w.forget()
		other.append("b")
		require.Equal(e, []string{"y/1", "x!", "y/2"}, ids(heard(e, reader, journal.Query{}, "")))
		require.Equal(e, []string{"x!", "y/2"}, ids(heard(e, reader, journal.Query{}, before[len(before)-1].Offset)))
		require.Equal(e, []string{"x!"}, ids(heard(e, reader, journal.Query{Tag: "red"}, before[len(before)-1].Offset)), "any tag")
		require.Equal(e, []string{"x!"}, ids(heard(e, reader, journal.Query{Tag: "unknown"}, "")))
		slice := journal.SliceOf("x")
		require.Equal(e, []string{"x!"}, ids(heard(e, reader, journal.Query{Slices: journal.SliceRange{From: slice, To: slice + 1}}, "")))
		w.forget()
		require.Equal(e, []string{"y/1", "x!", "y/2"}, ids(heard(e, reader, journal.Query{}, "")), "it is one tombstone")

		require.NoError(e, w.store.Revive(e.Context(), "x"))
		heir := e.writer(w.j, "x")
		heir.append("c")
		require.Equal(e, []string{"y/1", "x!", "y/2", "x/1"}, ids(heard(e, reader, journal.Query{}, "")))
		w.forget()
		all := heard(e, reader, journal.Query{}, "")
		require.Equal(e, []string{"y/1", "y/2", "x!"}, ids(all), "only the last life's")
		require.Empty(e, heard(e, reader, journal.Query{}, all[2].Offset))
	}},
	{"AppendsBesideForgetAreGoneOrFenced", func(e *env) {
		w := e.forgettable()
		for range 20 {
			var all sync.WaitGroup
			var appended error
			all.Go(func() {
				for appended == nil {
					if appended = w.try(w.next("secret")); appended == nil {
						w.last++
					}
				}
			})
			w.forget()
			all.Wait()
			require.ErrorIs(e, appended, journal.ErrFenced)
			w.requireNothing()
			require.NoError(e, w.store.Revive(e.Context(), "x"))
			w.writer = e.writer(w.j, "x")
		}
	}},
	{"AForgottenIDIsForgottenAfterReopening", func(e *env) {
		e.need(e.features.Reopen != nil, "Reopen")
		w := e.forgettable()
		w.fill(3)
		w.forget()
		w.j = e.features.Reopen(e.T, w.j)
		w.store, _ = journal.As[journal.Forgetter](w.j)
		w.requireNothing()
		_, err := w.j.Claim(e.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.ErrorIs(e, err, journal.ErrForgotten)
	}},
	{"OtherHandlesForgetToo", func(e *env) {
		e.need(e.features.SecondHandle != nil, "SecondHandle")
		w := e.forgettable()
		w.append("a")
		second, ok := journal.As[journal.Forgetter](e.features.SecondHandle(e.T, w.j))
		require.True(e, ok)
		require.NoError(e, second.Forget(e.Context(), "x"))
		require.ErrorIs(e, w.try(w.next("b")), journal.ErrFenced)
		w.requireNothing()
	}},
	{"ForgettingIsCalledOff", func(e *env) {
		w := e.forgettable()
		w.append("a")
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		requireCalledOff(e, w.store.Forget(ctx, "x"), context.Canceled)
		requireCalledOff(e, w.store.Revive(ctx, "x"), context.Canceled)
		require.Equal(e, []string{"a"}, e.payloads(w.j, "x"))
		require.NoError(e, w.j.Close())
		require.ErrorIs(e, w.store.Forget(e.Context(), "x"), journal.ErrClosed)
		require.ErrorIs(e, w.store.Revive(e.Context(), "x"), journal.ErrClosed)
	}},
	{"AHundredThousandRecordsAreForgotten", func(e *env) {
		w := e.forgettable()
		for range 100 {
			w.append(numbered("e", 1000)...)
		}
		begun := time.Now()
		w.forget()
		e.Logf("forgot 100000 records in %v", time.Since(begun))
		w.requireNothing()
	}},
	{"NoFileHasWhatIsForgotten", func(e *env) {
		e.need(e.features.Files != nil, "Files")
		w := e.forgettable()
		other := e.forgettableIn(w.j, "y")
		for i := range 40 {
			w.secrets(i)
			other.fill(1 + rand.IntN(20))
			other.secretTimers("other", i)
		}
		require.Positive(e, e.found(w.j, secret), "the test finds what is there")
		w.forget()
		require.Zero(e, e.found(w.j, secret))
		w.requireNothing()
	}},
}

const secret = "plaintext-of-x"

// secrets stores the secret in all places, in all sizes, and replaces and deletes some of them, as
// actors do.
func (w *forgettable) secrets(i int) {
	w.e.Helper()
	text := secret + strings.Repeat(fmt.Sprintf(" %d of %s", i, secret), 1+rand.IntN(400))
	req := w.next(numbered(text, 1+rand.IntN(4))...)
	for k := range req.Records {
		r := &req.Records[k]
		r.Type, r.Tags, r.Meta = "of "+secret, []string{fmt.Sprint(secret, i%7), "red"}, map[string]string{secret: secret}
	}
	require.NoError(w.e, w.try(req))
	w.last += uint64(len(req.Records))
	w.snapshot(w.last, text)
	w.secretTimers(secret, i)
	if i%5 == 4 {
		require.NoError(w.e, w.j.DeleteTo(w.e.Context(), w.id, w.claim.Epoch, w.last-2))
		if store, ok := journal.As[journal.SnapshotStore](w.j); ok {
			require.NoError(w.e, store.DeleteSnapshots(w.e.Context(), w.id, w.claim.Epoch, w.last, 1))
		}
	}
}

func (w *forgettable) secretTimers(text string, i int) {
	w.e.Helper()
	if _, ok := journal.As[journal.TimerStore](w.j); !ok {
		return
	}
	req := w.next()
	for n := range 5 {
		c := set(fmt.Sprint(text, (i+n)%11), i)
		c.Payload = []byte(strings.Repeat(text, 1+rand.IntN(30)))
		req.Timers = append(req.Timers, c, remove(fmt.Sprint(text, (i+n+5)%11)))
	}
	require.NoError(w.e, w.try(req))
}

// found counts text in the files of j.
func (e *env) found(j journal.Journal, text string) (n int) {
	e.Helper()
	for _, name := range e.features.Files(e.T, j) {
		data, err := os.ReadFile(name)
		require.NoError(e, err)
		if k := bytes.Count(data, []byte(text)); k > 0 {
			e.Logf("%s has %d bytes and %q %d times", name, len(data), text, k)
			n += k
		}
	}
	return n
}

type forgettable struct {
	*writer
	store journal.Forgetter
}

func (e *env) forgettable() *forgettable {
	e.Helper()
	return e.forgettableIn(e.journal(), "x")
}

func (e *env) forgettableIn(j journal.Journal, id string) *forgettable {
	e.Helper()
	store, ok := journal.As[journal.Forgetter](j)
	if !ok {
		e.skip(fmt.Sprintf("%T cannot forget", j))
	}
	return &forgettable{e.writer(j, id), store}
}

// fill stores records with tags, a snapshot and a timer.
func (w *forgettable) fill(records int) {
	w.e.Helper()
	req := w.next(numbered("e", records)...)
	for i := range req.Records {
		req.Records[i].Tags = []string{"red", "blue"}
	}
	if _, ok := journal.As[journal.TimerStore](w.j); ok {
		req.Timers = []journal.TimerChange{set("t", 1)}
	}
	require.NoError(w.e, w.try(req))
	w.last += uint64(records)
	w.snapshot(w.last, "state")
}

func (w *forgettable) snapshot(seq uint64, payload string) {
	w.e.Helper()
	if store, ok := journal.As[journal.SnapshotStore](w.j); ok {
		s := journal.Snapshot{Seq: seq, Epoch: w.claim.Epoch, Time: time.Unix(1_800_000_000, 0), Type: "state", Payload: []byte(payload)}
		require.NoError(w.e, store.SaveSnapshot(w.e.Context(), w.id, s))
	}
}

func (w *forgettable) forget() {
	w.e.Helper()
	require.NoError(w.e, w.store.Forget(w.e.Context(), w.id))
}

func (w *forgettable) requireNothing() {
	w.e.Helper()
	require.Empty(w.e, w.e.read(w.j, w.id, 0, everything))
	if store, ok := journal.As[journal.SnapshotStore](w.j); ok {
		_, ok, skipped, err := store.LoadSnapshot(w.e.Context(), w.id, everything)
		require.NoError(w.e, err)
		require.False(w.e, ok)
		require.Empty(w.e, skipped)
		seqs, err := store.Snapshots(w.e.Context(), w.id)
		require.NoError(w.e, err)
		require.Empty(w.e, seqs)
	}
	if store, ok := journal.As[journal.TimerStore](w.j); ok {
		timers, err := store.Timers(w.e.Context(), w.id)
		require.NoError(w.e, err)
		require.Empty(w.e, timers)
		wakes, err := store.Wakes(w.e.Context(), journal.SliceRange{}, journal.Wake{}, due(100), 100)
		require.NoError(w.e, err)
		for _, wake := range wakes {
			require.NotEqual(w.e, w.id, wake.ID)
		}
	}
}

func heard(e *env, reader journal.EventReader, q journal.Query, after journal.Offset) (all []journal.Entry) {
	e.Helper()
	for entry, err := range reader.Events(e.Context(), q, after) {
		require.NoError(e, err)
		all = append(all, entry)
	}
	return all
}

// ids returns entries, each as id/seq, and a tombstone as id!.
func ids(entries []journal.Entry) (all []string) {
	for i := range entries {
		entry := &entries[i]
		if entry.Forgotten() {
			all = append(all, entry.ID+"!")
			continue
		}
		all = append(all, fmt.Sprint(entry.ID, "/", entry.Record.Seq))
	}
	return all
}
