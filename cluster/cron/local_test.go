package cron_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A logbook notes runs. In a bubble of synctest, it is midnight UTC of January 1st, 2000.
type logbook struct {
	mu      sync.Mutex
	runs    []cron.Run
	at      []time.Time
	takes   time.Duration
	fails   error
	ignores bool // the end of the context
}

func (b *logbook) job() cron.Job {
	return cron.Func(func(ctx context.Context, r cron.Run) error {
		b.mu.Lock()
		b.runs, b.at = append(b.runs, r), append(b.at, time.Now().UTC())
		takes, fails := b.takes, b.fails
		b.mu.Unlock()
		if b.ignores {
			ctx = context.WithoutCancel(ctx)
		}
		select {
		case <-time.After(takes + 1):
			return fails
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// due returns when the runs were due, as clock times of the format.
func (b *logbook) due(format string) (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		all = append(all, r.Due.Format(format))
	}
	return all
}

func (b *logbook) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs, b.at = nil, nil
}

// on returns a system with that journal.
func on(t *testing.T, store persistence.Journal, opts ...actor.Option) *actor.System {
	t.Helper()
	return testkit.NewSystem(t, append(opts, persistence.WithJournal(store))...)
}

func start(t *testing.T, s cron.Host, b *logbook, entries ...cron.Entry) *cron.Schedule {
	t.Helper()
	c, err := cron.Start(s, cron.Config{Jobs: map[string]cron.Job{"note": b.job()}, Entries: entries})
	require.NoError(t, err)
	return c
}

func TestAnEntryRunsAtItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(logbook)
		start(t, on(t, journal.NewMemory()), b,
			cron.Entry{Name: "quarters", Job: "note", Spec: "*/15 0 * * *"},
			cron.Entry{Name: "Berlin", Job: "note", Spec: "30 1 * * *", Zone: "Europe/Berlin", Args: "x"})
		time.Sleep(24*time.Hour + time.Second)
		require.ElementsMatch(t, []string{"00:15 UTC", "01:30 CET", "00:30 UTC", "00:45 UTC", "00:00 UTC"}, b.due("15:04 MST"))
		for i, r := range b.runs {
			if r.Entry == "Berlin" {
				require.Equal(t, "x", r.Args)
				require.Equal(t, "Berlin@2000-01-01T00:30:00Z", r.ID())
			}
			require.Less(t, b.at[i].Sub(r.Due), time.Millisecond)
			require.Equal(t, 1, r.Attempt)
			require.Positive(t, r.Generation.Term+r.Generation.Seq)
		}
	})
}

// An outage of three hours, with an entry that is due every half hour.
func TestMissedRuns(t *testing.T) {
	for name, test := range map[string]struct {
		missed cron.Missed
		want   []string
	}{
		"Skip":   {cron.Skip, nil},
		"Once":   {cron.Once, []string{"13:00"}},
		"All(4)": {cron.All(4), []string{"11:30", "12:00", "12:30", "13:00"}},
		"All(9)": {cron.All(9), []string{"10:30", "11:00", "11:30", "12:00", "12:30", "13:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, store := new(logbook), journal.NewMemory()
				e := cron.Entry{Name: "half hours", Job: "note", Spec: "*/30 * * * *", Missed: test.missed}
				first := on(t, store)
				start(t, first, b, e)
				time.Sleep(10*time.Hour + 5*time.Minute)
				require.NoError(t, first.Shutdown(t.Context()))
				b.clear()
				time.Sleep(3 * time.Hour)
				c := start(t, on(t, store), b, e)
				time.Sleep(5 * time.Minute)
				require.Equal(t, test.want, b.due("15:04"))
				status, err := c.Entry(t.Context(), "half hours")
				require.NoError(t, err)
				require.EqualValues(t, 6, status.Counts[cron.NotRun]+uint64(len(test.want)))
				time.Sleep(30 * time.Minute)
				require.Equal(t, append(test.want, "13:30"), b.due("15:04"), "then it goes on as always")
			})
		})
	}
}

// Down from 00:02:10. A run within the grace of one minute is not missed, and is one of the last.
func TestMissedRunsBesideOneThatIsWithinItsGrace(t *testing.T) {
	for name, test := range map[string]struct {
		missed cron.Missed
		until  time.Duration // after midnight
		want   []string
	}{
		"Skip, within":     {cron.Skip, 7*time.Minute + 30*time.Second, minutes(7, 7)},
		"Once, within":     {cron.Once, 7*time.Minute + 30*time.Second, minutes(7, 7)},
		"All(3), within":   {cron.All(3), 7*time.Minute + 30*time.Second, minutes(5, 7)},
		"All(9), within":   {cron.All(9), 7*time.Minute + 30*time.Second, minutes(3, 7)},
		"Once, two within": {cron.Once, 8 * time.Minute, minutes(7, 8)},
		"Skip, two within": {cron.Skip, 8 * time.Minute, minutes(7, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, store := new(logbook), journal.NewMemory()
				midnight := time.Now()
				e := cron.Entry{Name: "minutes", Job: "note", Spec: "* * * * *", Missed: test.missed}
				first := on(t, store)
				start(t, first, b, e)
				time.Sleep(2*time.Minute + 10*time.Second)
				require.NoError(t, first.Shutdown(t.Context()))
				b.clear()
				time.Sleep(time.Until(midnight.Add(test.until)))
				c := start(t, on(t, store), b, e)
				time.Sleep(time.Second)
				require.Equal(t, test.want, b.due("15:04"))
				status, err := c.Entry(t.Context(), "minutes")
				require.NoError(t, err)
				all := uint64(test.until/time.Minute) - 2
				require.Equal(t, all-uint64(len(test.want)), status.Counts[cron.NotRun])
			})
		})
	}
}

// A failover is no outage.
func TestARunThatIsAMinuteLateWasNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, store := new(logbook), journal.NewMemory()
		e := cron.Entry{Name: "hours", Job: "note", Spec: "0 * * * *"}
		first := on(t, store)
		start(t, first, b, e)
		time.Sleep(time.Hour - 30*time.Second)
		require.NoError(t, first.Shutdown(t.Context()))
		time.Sleep(time.Minute)
		start(t, on(t, store), b, e)
		time.Sleep(time.Second)
		require.Equal(t, []string{"01:00"}, b.due("15:04"))
	})
}

func TestRunsThatOverlap(t *testing.T) {
	for name, test := range map[string]struct {
		overlap cron.Overlap
		want    []string
		began   []string
	}{
		"SkipRun":  {cron.SkipRun, []string{"00:01", "00:04", "00:07"}, []string{"00:01", "00:04", "00:07"}},
		"QueueRun": {cron.QueueRun, []string{"00:01", "00:02", "00:03", "00:04"}, []string{"00:01", "00:03", "00:06", "00:08"}},
		"Allow":    {cron.Allow, []string{"00:01", "00:02", "00:03", "00:04", "00:05", "00:06", "00:07", "00:08", "00:09"}, []string{"00:01", "00:02", "00:03", "00:04", "00:05", "00:06", "00:07", "00:08", "00:09"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &logbook{takes: 2*time.Minute + 30*time.Second}
				start(t, on(t, journal.NewMemory()), b, cron.Entry{Name: "minutes", Job: "note", Spec: "* * * * *", Overlap: test.overlap})
				time.Sleep(9*time.Minute + 10*time.Second)
				require.Equal(t, test.want, b.due("15:04"))
				var began []string
				for _, at := range b.at {
					began = append(began, at.Format("15:04"))
				}
				require.Equal(t, test.began, began)
			})
		})
	}
}

func TestEntriesChangeAtRunTimeThroughTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, store := new(logbook), journal.NewMemory()
		declared := cron.Entry{Name: "declared", Job: "note", Spec: "0 * * * *"}
		first := on(t, store)
		c := start(t, first, b, declared)
		changed, added := declared, cron.Entry{Name: "added", Job: "note", Spec: "30 * * * *"}
		changed.Spec = "45 * * * *"
		require.NoError(t, c.Set(t.Context(), changed))
		require.NoError(t, c.Set(t.Context(), added))
		time.Sleep(time.Hour + time.Minute)
		require.Equal(t, []string{"00:30", "00:45"}, b.due("15:04"))
		require.NoError(t, first.Shutdown(t.Context()))

		second := on(t, store)
		c = start(t, second, b, declared)
		time.Sleep(time.Hour)
		require.Equal(t, []string{"00:30", "00:45", "01:30", "01:45"}, b.due("15:04"), "the change outlives the process")
		require.NoError(t, c.Remove(t.Context(), "added"))
		require.NoError(t, c.Remove(t.Context(), "declared"))
		require.ErrorIs(t, c.Remove(t.Context(), "declared"), cron.ErrNoEntry)
		all, err := c.Entries(t.Context())
		require.NoError(t, err)
		require.Empty(t, all)
		require.NoError(t, second.Shutdown(t.Context()))

		b.clear()
		third := on(t, store)
		start(t, third, b, declared)
		time.Sleep(2 * time.Hour)
		require.Empty(t, b.due("15:04"), "it was removed")
		require.NoError(t, third.Shutdown(t.Context()))
		declared.Args = "new"
		start(t, on(t, store), b, declared)
		time.Sleep(time.Hour)
		require.Equal(t, []string{"05:00"}, b.due("15:04"), "the program declares another one")
	})
}

func TestAPausedEntryMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(logbook)
		c := start(t, on(t, journal.NewMemory()), b, cron.Entry{Name: "hours", Job: "note", Spec: "0 * * * *", Missed: cron.All(100)})
		require.NoError(t, c.Pause(t.Context(), "hours"))
		require.NoError(t, c.Pause(t.Context(), "hours"))
		time.Sleep(5*time.Hour + time.Minute)
		require.Empty(t, b.due("15:04"))
		due, err := c.Trigger(t.Context(), "hours")
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.Equal(t, []string{"05:01"}, b.due("15:04"), "it can be triggered")
		require.True(t, b.runs[0].Manual)
		require.True(t, due.Equal(b.runs[0].Due))
		require.NoError(t, c.Resume(t.Context(), "hours"))
		time.Sleep(time.Hour)
		require.Equal(t, []string{"05:01", "06:00"}, b.due("15:04"))
	})
}

func TestTheOutcomesOfRunsAreInTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &logbook{fails: errors.New("out of paper")}
		jobs := map[string]cron.Job{"note": b.job(), "panics": cron.Func(func(context.Context, cron.Run) error { panic("oops") })}
		c, err := cron.Start(on(t, journal.NewMemory()), cron.Config{Jobs: jobs, Entries: []cron.Entry{
			{Name: "note", Spec: "0 * * * *"}, {Name: "panics", Spec: "0 * * * *"},
		}})
		require.NoError(t, err)
		time.Sleep(30*time.Hour + time.Minute)
		for name, text := range map[string]string{"note": "out of paper", "panics": "oops"} {
			status, err := c.Entry(t.Context(), name)
			require.NoError(t, err)
			require.Len(t, status.History, 20)
			require.EqualValues(t, 30, status.Counts[cron.Failed])
			require.Equal(t, "06:00", status.History[0].Due.UTC().Format("15:04"))
			require.Equal(t, "07:00", status.Next.Format("15:04"))
			require.Contains(t, status.History[0].Error, text)
			require.Equal(t, cron.Failed, status.History[0].Outcome)
			require.Empty(t, status.Open)
		}
	})
}

// An order is the message of jobs.
type order struct {
	ID      string
	ReplyTo actor.ActorRef[actor.Result[int]]
}

func init() {
	actor.RegisterType[order]("cron-test.order")
}

func TestARunIsAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := on(t, journal.NewMemory())
		probe := testkit.NewProbe[order](t, s)
		c, err := cron.Start(s, cron.Config{
			Jobs: map[string]cron.Job{
				"tell": cron.Tell(func(r cron.Run) (actor.ActorRef[order], order) { return probe.Ref(), order{ID: r.ID()} }),
				"ask": cron.Ask(time.Minute, func(cron.Run) actor.ActorRef[order] { return probe.Ref() },
					func(r cron.Run, to actor.ActorRef[actor.Result[int]]) order { return order{ID: r.ID(), ReplyTo: to} }),
			},
			Entries: []cron.Entry{{Name: "tell", Spec: "0 * * * *"}, {Name: "ask", Spec: "30 * * * *"}},
		})
		require.NoError(t, err)
		time.Sleep(30*time.Minute + time.Second)
		m := probe.Receive()
		require.Equal(t, "ask@2000-01-01T00:30:00Z", m.ID)
		status, err := c.Entry(t.Context(), "ask")
		require.NoError(t, err)
		require.Len(t, status.Open, 1, "it goes on")
		m.ReplyTo.Tell(actor.Result[int]{Err: errors.New("sold out")})
		time.Sleep(time.Second)
		status, err = c.Entry(t.Context(), "ask")
		require.NoError(t, err)
		require.Equal(t, "sold out", status.History[0].Error)
		time.Sleep(30 * time.Minute)
		require.Equal(t, "tell@2000-01-01T01:00:00Z", probe.Receive().ID)
		time.Sleep(32 * time.Minute)
		status, err = c.Entry(t.Context(), "ask")
		require.NoError(t, err)
		require.Contains(t, status.History[0].Error, "1m0s", "nobody has replied")
	})
}

// A shownRun is what the status page shows of a run.
type shownRun struct {
	Due   time.Time
	Error string
}

// A shownSchedule is what the status page shows of a schedule.
type shownSchedule struct {
	Name    string
	Here    bool
	Entries []struct {
		Next    *time.Time
		Open    []shownRun
		Counts  map[string]uint64
		Last    *shownRun
		Problem string
	}
}

func shown(t *testing.T, s *actor.System) ([]shownSchedule, []status.Problem) {
	t.Helper()
	details, problems := telemetrytest.Details[struct{ Schedules []shownSchedule }](t, s)
	return details.Schedules, problems
}

func TestTheStatusPageShowsSchedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := on(t, journal.NewMemory()), &logbook{takes: time.Minute, fails: errors.New("out of paper")}
		start(t, s, b, cron.Entry{Name: "hours", Job: "note", Spec: "0 * * * *"})
		time.Sleep(2*time.Hour + time.Second)
		all, problems := shown(t, s)
		require.Len(t, all, 1)
		require.True(t, all[0].Here)
		e := all[0].Entries[0]
		require.Equal(t, "03:00", e.Next.Format("15:04"))
		require.Len(t, e.Open, 1)
		require.Equal(t, "02:00", e.Open[0].Due.Format("15:04"))
		require.Equal(t, "out of paper", e.Last.Error)
		require.Equal(t, "The last run of the entry "+all[0].Name+"/hours has failed: out of paper.", problems[0].Text)
		require.Equal(t, map[string]uint64{"failed": 1}, e.Counts)
		require.NoError(t, s.Shutdown(t.Context()))
		all, _ = shown(t, s)
		require.False(t, all[0].Here)
	})
}

// Twelve processes end one after the other during the run, each of which is alone.
func TestARunHasFailedAfterTenHostsHaveEndedDuringIt(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, c *clustertest.Cluster){
		"they crash": func(_ *testing.T, c *clustertest.Cluster) { c.Crash("n1") },
		"they leave": func(_ *testing.T, c *clustertest.Cluster) { c.Leave("n1") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, store := &logbook{takes: time.Minute}, journal.NewMemory()
				hourly := cron.Entry{Name: "hours", Job: "note", Spec: "0 * * * *", Grace: time.Hour}
				time.Sleep(time.Hour - 10*time.Second)
				core, lines := observer.New(zap.WarnLevel)
				logged := func(_ string, c *cluster.Config) { c.Logger = zap.New(core) }
				for range 12 {
					c := clustertest.Start(t, 1, clustertest.WithJournal(store), logged)
					start(t, c.Node("n1"), b, hourly)
					time.Sleep(20 * time.Second)
					end(t, c)
				}
				require.Len(t, b.due("15:04"), 10)
				status, err := start(t, on(t, store), b, hourly).Entry(t.Context(), "hours")
				require.NoError(t, err)
				require.Empty(t, status.Open)
				require.Equal(t, cron.Failed, status.History[0].Outcome)
				require.Equal(t, 10, status.History[0].Attempt)
				require.Contains(t, status.History[0].Error, "given up")
				failed := lines.FilterMessage("run failed").All()
				require.Len(t, failed, 1)
				require.Equal(t, status.History[0].Error, failed[0].ContextMap()["error"])
			})
		})
	}
}
