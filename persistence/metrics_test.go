package persistence_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

func (w *world) value(name string, labels ...string) int {
	w.Helper()
	return telemetrytest.Value(w, w.system, name, labels...)
}

const ours = "persistence_test"

func TestCallsOfAJournalAreMeasured(t *testing.T) {
	inBubble(t, func(w *world) {
		slow := func(ctx context.Context, apply func() error) error { time.Sleep(time.Second); return apply() }
		w.journal.set(hooks{claim: slow, append: slow})
		ref := w.spawn()
		ref.Tell(say(w.to, "a", "b"))
		ref.Tell(say(w.to, "c"))
		w.replies.Within(time.Minute, func() { w.replies.Expect("a"); w.replies.Expect("b"); w.replies.Expect("c") })
		w.stop(ref)
		w.stop(w.spawn())

		for name, want := range map[string]struct {
			count uint64
			sum   time.Duration
		}{
			"understudy_journal_append_seconds": {2, 2 * time.Second},
			"understudy_journal_claim_seconds":  {2, 2 * time.Second},
			"understudy_journal_read_seconds":   {1, 0},
		} {
			f := family(t, w.system, name)
			require.Equal(w, telemetry.Histogram, f.Type)
			require.Len(w, f.Series, 1, name)
			require.Equal(w, []string{ours}, f.Series[0].Labels, name)
			require.Equal(w, want.count, f.Series[0].Durations.Count, name)
			require.Equal(w, want.sum, f.Series[0].Durations.Sum, name)
		}
		require.Equal(w, 3, w.value("understudy_journal_appended_events_total", ours))
		require.Equal(w, 2, w.value("understudy_recovery_seconds"))
		require.Equal(w, 3, w.value("understudy_recovered_events_total"))
		require.Zero(w, w.value("understudy_recovery_failures_total"))
		telemetrytest.Check(w, w.system)
	})
}

func family(t *testing.T, s *actor.System, name string) telemetry.Family {
	t.Helper()
	for _, f := range telemetry.Gather(s) {
		if f.Name == name {
			return f
		}
	}
	require.Fail(t, name)
	return telemetry.Family{}
}

func TestEachErrorOfAJournalHasASeriesBeforeItOccurs(t *testing.T) {
	inBubble(t, func(w *world) {
		w.spawn()
		synctest.Wait()
		errors := family(t, w.system, "understudy_journal_errors_total").Series
		require.Len(w, errors, 11)
		for _, s := range errors {
			require.Equal(w, ours, s.Labels[0])
			require.Zero(w, s.Value, s.Labels)
		}
		require.Zero(w, w.value("understudy_journal_errors_total", ours, "fenced"))
	})
}

func TestErrorsOfAJournalAreCountedByTheirKind(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{OnPersistFailure: actor.Backoff{Min: time.Second}})
		w.journal.set(hooks{append: answers(persistence.ErrUnavailable, persistence.ErrUnknown)})
		ref.Tell(say(w.to, "a"))
		w.replies.Within(time.Minute, func() { w.replies.Expect("a") })
		require.Equal(w, 1, w.value("understudy_journal_errors_total", ours, "unavailable"))
		require.Equal(w, 1, w.value("understudy_journal_errors_total", ours, "unknown outcome"))
		require.Equal(w, 3, w.value("understudy_journal_append_seconds", ours), "each attempt is one")
		require.Equal(w, 1, w.value("understudy_journal_appended_events_total", ours))

		w.spawn()
		synctest.Wait()
		ref.Tell(say(w.to, "b"))
		w.replies.ExpectTerminated(ref)
		require.Equal(w, 1, w.value("understudy_journal_errors_total", ours, "fenced"))

		w.journal.set(hooks{claim: answers(persistence.ErrClosed)})
		w.replies.ExpectTerminated(w.spawn())
		require.Equal(w, 1, w.value("understudy_journal_errors_total", ours, "closed"))
		require.Equal(w, 1, w.value("understudy_recovery_failures_total"))
		require.Zero(w, w.value("understudy_journal_errors_total", ours, "other"))
	})
}

// A shownJournal is what the status page shows of a journal.
type shownJournal struct {
	Name            string
	Appends, Claims struct {
		Count        uint64
		FailedInARow uint64
		FailingSince *time.Time
		Failure      string
	}
	Events    uint64
	Errors    map[string]uint64
	LastError string
}

func (w *world) shown() (shownJournal, []status.Problem) {
	w.Helper()
	details, problems := telemetrytest.Details[struct{ Journals []shownJournal }](w, w.system)
	require.Len(w, details.Journals, 1)
	require.Equal(w, ours, details.Journals[0].Name)
	return details.Journals[0], problems
}

func TestAJournalFailsUntilItAnswersAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{OnPersistFailure: actor.Backoff{Min: time.Second, Max: time.Second}})
		synctest.Wait()
		begun := time.Now()
		w.journal.set(hooks{append: answers(persistence.ErrUnavailable, persistence.ErrUnavailable, persistence.ErrUnavailable)})
		ref.Tell(say(w.to, "a"))
		time.Sleep(1500 * time.Millisecond)
		failing, problems := w.shown()
		require.Equal(w, []status.Problem{{Kind: "journal", About: ours, Text: "Appends to the journal " + ours + " fail: " + persistence.ErrUnavailable.Error() + "."}}, problems)
		require.Equal(w, uint64(2), failing.Appends.FailedInARow)
		require.Equal(w, begun, failing.Appends.FailingSince.In(begun.Location()))
		require.Equal(w, persistence.ErrUnavailable.Error(), failing.Appends.Failure)
		require.Zero(w, failing.Claims.FailedInARow)
		require.Equal(w, map[string]uint64{"unavailable": 2}, failing.Errors)

		w.replies.Within(time.Minute, func() { w.replies.Expect("a") })
		works, problems := w.shown()
		require.Empty(w, problems)
		require.Zero(w, works.Appends.FailedInARow)
		require.Nil(w, works.Appends.FailingSince)
		require.Equal(w, uint64(4), works.Appends.Count)
		require.Equal(w, uint64(1), works.Events)
		require.Equal(w, persistence.ErrUnavailable.Error(), works.LastError)

		w.spawn()
		synctest.Wait()
		ref.Tell(say(w.to, "b"))
		w.replies.ExpectTerminated(ref)
		fenced, problems := w.shown()
		require.Empty(w, problems)
		require.Zero(w, fenced.Appends.FailedInARow, "it works, and has refused a call")
		require.Equal(w, uint64(1), fenced.Errors["fenced"])
		require.Contains(w, fenced.LastError, persistence.ErrFenced.Error())
	})
}

func TestRecoveriesThatWaitForOthersAreCounted(t *testing.T) {
	inBubble(t, func(w *world) {
		persistence.LimitRecoveries(w.system, 1)
		w.journal.set(hooks{claim: slowly})
		w.recovering(3)
		synctest.Wait()
		require.Equal(w, 2, w.value("understudy_recoveries_waiting"))
		time.Sleep(time.Hour)
		require.Zero(w, w.value("understudy_recoveries_waiting"))
		require.Equal(w, 3, w.value("understudy_recovery_seconds"))
	})
}

func TestSnapshotsAreCounted(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{SnapshotEvery: 1})
		w.journal.set(hooks{save: answers(persistence.ErrFull)})
		for _, word := range []string{"a", "b", "c"} {
			ref.Tell(say(w.to, word))
			w.replies.Expect(word)
			synctest.Wait()
		}
		require.Equal(w, 2, w.value("understudy_snapshots_saved_total"))
		require.Equal(w, 1, w.value("understudy_snapshot_failures_total"))
	})
}

func TestAJournalIsNamedAfterThePackageOfItsStore(t *testing.T) {
	key := make([]byte, 32)
	encryption, err := codec.NewEncryption(key)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		replies := testkit.NewProbe[string](t, s)
		for _, j := range []persistence.Journal{journal.NewMemory(), codec.Wrap(journal.NewMemory(), encryption)} {
			actor.Spawn(s, words(j), "").Tell(say(replies.Ref(), "a"))
			page := actor.Spawn(s, notebook(j), "")
			page.Tell(writePage(replies.Ref(), "b"))
			page.Tell(leavePage)
			replies.ExpectTerminated(page)
			actor.Spawn(s, notebook(j), "")
		}
		synctest.Wait()
		require.Equal(t, 4, telemetrytest.Value(t, s, "understudy_journal_append_seconds", "memory"))
		require.Equal(t, 6, telemetrytest.Value(t, s, "understudy_journal_claim_seconds", "memory"))
		require.Equal(t, 2, telemetrytest.Value(t, s, "understudy_journal_read_seconds", "memory"))
		require.Equal(t, 4, telemetrytest.Value(t, s, "understudy_journal_appended_events_total", "memory"))
		require.Len(t, family(t, s, "understudy_journal_append_seconds").Series, 1)
	})
}
