package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var timerLaws = []law{
	{"TimersAreSetAndRemovedWithRecords", func(e *env) {
		w := e.timed("a")
		w.change(1, set("x", 10), set("y", 5))
		require.Equal(e, []string{"y@5", "x@10"}, w.timers())
		require.Len(e, e.payloads(w.j, "a"), 1)
		w.change(0, set("x", 3), remove("y"), remove("unknown"))
		require.Equal(e, []string{"x@3"}, w.timers())
		w.change(2, remove("x"), set("x", 7), set("z", 1), remove("z"))
		require.Equal(e, []string{"x@7"}, w.timers(), "changes are made in order")
		require.Len(e, e.payloads(w.j, "a"), 3)
		require.Equal(e, uint64(3), e.writer(w.j, "a").last, "changes of timers have no sequence numbers")
	}},
	{"ATimerIsReadAsItWasSet", func(e *env) {
		w := e.timed("ä|b")
		want := journal.Timer{
			Key: "größe 'x'\n", Due: time.Date(2261, 12, 31, 23, 59, 59, 999_999_999, time.UTC), Attempt: 1<<63 - 1,
			Type: "reminder/1", Payload: []byte{0, 255, '\''},
		}
		local := want
		local.Due = want.Due.In(time.FixedZone("far", 3600))
		early := journal.Timer{Key: "early", Due: time.Date(1678, 1, 1, 0, 0, 0, 1, time.UTC)}
		w.change(1, journal.TimerChange{Timer: local}, journal.TimerChange{Timer: early})
		got, err := w.store.Timers(e.Context(), w.id)
		require.NoError(e, err)
		require.Len(e, got, 2)
		for i := range got {
			if len(got[i].Payload) == 0 {
				got[i].Payload = nil
			}
		}
		require.Equal(e, []journal.Timer{early, want}, got)
	}},
	{"OnlyTheNewestClaimChangesTimers", func(e *env) {
		old := e.timed("a")
		old.change(1, set("x", 1))
		heir := e.timedIn(old.store, "a")
		for _, records := range []int{0, 1} {
			require.ErrorIs(e, old.tryChange(records, remove("x"), set("y", 1)), journal.ErrFenced)
		}
		require.Equal(e, []string{"x@1"}, heir.timers(), "claims leave timers alone")
		wrong := request("a", heir.claim.Epoch, 7)
		wrong.Timers = []journal.TimerChange{set("y", 1)}
		require.ErrorIs(e, appendOne(e, heir.j, wrong), journal.ErrConflict)
		heir.change(0, remove("x"))
		require.Empty(e, heir.timers())
	}},
	{"AClaimHasTheTimers", func(e *env) {
		w := e.timed("a")
		require.Empty(e, w.claimed())
		for _, change := range []journal.TimerChange{set("x", 2), set("z", 1), set("y", 1), remove("x"), remove("y"), remove("z")} {
			w.change(0, change)
			heir := e.timedIn(w.store, "a")
			require.Equal(e, heir.timers(), heir.claimed())
			require.Empty(e, e.timedIn(w.store, "b").claimed(), "another id")
			w = heir
		}
		w.change(1)
		require.Empty(e, e.timedIn(w.store, "a").claimed())
		for i := range 40 {
			w = e.timedIn(w.store, "a")
			if i < 10 || w.claim.TimersKnown {
				require.Equal(e, w.timers(), w.claimed())
			}
			w.change(0, set(fmt.Sprint(i), 100-i))
		}
	}},
	{"AClaimKnowsTheTimersOfAppendsBeforeIt", func(e *env) {
		w := e.timed("a")
		for range 50 {
			var all sync.WaitGroup
			var appended error
			all.Go(func() { appended = w.tryChange(0, set("x", 1)) })
			heir := e.timedIn(w.store, "a")
			all.Wait()
			if appended != nil {
				require.ErrorIs(e, appended, journal.ErrFenced)
			}
			require.Equal(e, appended != nil, len(heir.claimed()) == 0)
			heir.change(0, remove("x"))
			w = heir
		}
	}},
	{"ARepeatedAppendDoesNotChangeTimersAgain", func(e *env) {
		w := e.timed("a")
		first := w.next("event")
		first.Timers = []journal.TimerChange{set("x", 1)}
		require.NoError(e, w.try(first))
		w.last++
		w.change(1, remove("x"))
		require.NoError(e, w.try(first), "it is recognised")
		require.Empty(e, w.timers())
	}},
	{"MalformedTimersAreInvalid", func(e *env) {
		w := e.timed("a")
		for name, c := range map[string]journal.TimerChange{
			"no key": set("", 1), "long key": set(string(make([]byte, journal.MaxTimerKey+1)), 1), "NUL": set("a\x00", 1), "not UTF-8": set("\xff", 1),
			"no time": {Timer: journal.Timer{Key: "x"}}, "late": {Timer: journal.Timer{Key: "x", Due: time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)}},
			"type": {Timer: journal.Timer{Key: "x", Due: due(1), Type: "\xff"}}, "attempt": {Timer: journal.Timer{Key: "x", Due: due(1), Attempt: 1 << 63}},
		} {
			require.ErrorIs(e, w.tryChange(1, c), journal.ErrInvalid, name)
		}
		require.Empty(e, w.timers())
		require.Empty(e, e.payloads(w.j, "a"))
		_, err := w.store.Timers(e.Context(), "")
		require.ErrorIs(e, err, journal.ErrInvalid)
		none, err := w.store.Timers(e.Context(), "never claimed")
		require.NoError(e, err)
		require.Empty(e, none)
	}},
	{"DeletedRecordsLeaveTheirTimers", func(e *env) {
		w := e.timed("a")
		w.change(3, set("x", 1))
		require.NoError(e, w.j.DeleteTo(e.Context(), "a", w.claim.Epoch, 3))
		require.Equal(e, []string{"x@1"}, w.timers())
	}},
	{"WakesComeInPagesInTheirOrder", func(e *env) {
		first := e.timed("id-00")
		var want []journal.Wake
		for n := range 30 {
			w := first
			if n > 0 {
				w = e.timedIn(first.store, fmt.Sprintf("id-%02d", n))
			}
			w.change(0, set("a", n/3), set("b", n/3), set("late", 100))
			want = append(want, journal.Wake{Due: due(n / 3), ID: w.id})
		}
		e.requireWakes(first.store, journal.SliceRange{}, want)
		for _, r := range journal.Split(3) {
			var some []journal.Wake
			for _, w := range want {
				if r.Contains(journal.SliceOf(w.ID)) {
					some = append(some, w)
				}
			}
			e.requireWakes(first.store, r, some)
		}
		_, err := first.store.Wakes(e.Context(), journal.SliceRange{From: 3, To: 2}, journal.Wake{}, due(1), 1)
		require.ErrorIs(e, err, journal.ErrInvalid)
		for _, limit := range []int{0, -1} {
			none, err := first.store.Wakes(e.Context(), journal.SliceRange{}, journal.Wake{}, due(100), limit)
			require.NoError(e, err)
			require.Empty(e, none)
		}
	}},
	{"TheClockGoesOn", func(e *env) {
		store := e.timed("a").store
		before, err := store.Now(e.Context())
		require.NoError(e, err)
		require.WithinDuration(e, time.Now(), before, time.Hour)
		after, err := store.Now(e.Context())
		require.NoError(e, err)
		require.False(e, after.Before(before))
	}},
	{"TimersAreThereAfterReopening", func(e *env) {
		e.need(e.features.Reopen != nil, "Reopen")
		w := e.timed("a")
		w.change(1, set("x", 1), set("y", 2))
		again, ok := journal.As[journal.TimerStore](e.features.Reopen(e.T, w.j))
		require.True(e, ok)
		require.Equal(e, []string{"x@1", "y@2"}, e.timedIn(again, "a").timers())
		e.requireWakes(again, journal.SliceRange{}, []journal.Wake{{Due: due(1), ID: "a"}, {Due: due(2), ID: "a"}})
	}},
	{"AClosedStoreTellsNoTimers", func(e *env) {
		w := e.timed("a")
		require.NoError(e, w.j.Close())
		_, err := w.store.Timers(e.Context(), "a")
		require.ErrorIs(e, err, journal.ErrClosed)
		_, err = w.store.Wakes(e.Context(), journal.SliceRange{}, journal.Wake{}, due(1), 1)
		require.ErrorIs(e, err, journal.ErrClosed)
		_, err = w.store.Now(e.Context())
		require.ErrorIs(e, err, journal.ErrClosed)
	}},
	{"AStoreWithoutTimersRefusesThem", func(e *env) {
		j := e.journal()
		if _, ok := journal.As[journal.TimerStore](j); ok {
			e.skip(fmt.Sprintf("%T is a timer store", j))
		}
		w := e.writer(j, "a")
		req := w.next("event")
		req.Timers = []journal.TimerChange{set("x", 1)}
		require.ErrorIs(e, w.try(req), errors.ErrUnsupported)
		require.Empty(e, e.payloads(j, "a"))
	}},
}

type timedWriter struct {
	*writer
	store journal.TimerStore
}

func (e *env) timed(id string) *timedWriter {
	e.Helper()
	j := e.journal()
	store, ok := journal.As[journal.TimerStore](j)
	if !ok {
		e.skip(fmt.Sprintf("%T keeps no timers", j))
	}
	return e.timedIn(store, id)
}

func (e *env) timedIn(store journal.TimerStore, id string) *timedWriter {
	e.Helper()
	return &timedWriter{e.writer(store, id), store}
}

func (w *timedWriter) change(records int, changes ...journal.TimerChange) {
	w.e.Helper()
	require.NoError(w.e, w.tryChange(records, changes...))
	w.last += uint64(records)
}

func (w *timedWriter) tryChange(records int, changes ...journal.TimerChange) error {
	req := w.next(numbered("event", records)...)
	req.Timers = changes
	return w.try(req)
}

// timers returns the timers, each as key@due.
func (w *timedWriter) timers() []string {
	w.e.Helper()
	timers, err := w.store.Timers(w.e.Context(), w.id)
	require.NoError(w.e, err)
	return timerTexts(timers)
}

func (w *timedWriter) claimed() []string {
	w.e.Helper()
	require.True(w.e, w.claim.TimersKnown)
	return timerTexts(w.claim.Timers)
}

func timerTexts(timers []journal.Timer) (all []string) {
	for _, t := range timers {
		all = append(all, fmt.Sprintf("%s@%d", t.Key, int(t.Due.Sub(due(0))/time.Second)))
	}
	return all
}

func due(seconds int) time.Time { return time.Unix(1_900_000_000+int64(seconds), 0).UTC() }

func set(key string, seconds int) journal.TimerChange {
	return journal.TimerChange{Timer: journal.Timer{Key: key, Due: due(seconds), Type: "timer", Payload: []byte(key)}}
}

func remove(key string) journal.TimerChange {
	return journal.TimerChange{Timer: journal.Timer{Key: key}, Remove: true}
}

func (e *env) requireWakes(store journal.TimerStore, in journal.SliceRange, want []journal.Wake) {
	e.Helper()
	for _, limit := range []int{1, 7, 1000} {
		var got []journal.Wake
		for {
			var after journal.Wake
			if len(got) > 0 {
				after = got[len(got)-1]
			}
			page, err := store.Wakes(e.Context(), in, after, due(100), limit)
			require.NoError(e, err)
			require.LessOrEqual(e, len(page), limit)
			got = append(got, page...)
			if len(page) == 0 {
				break
			}
		}
		require.Equal(e, want, got, "%v by %d", in, limit)
	}
}
