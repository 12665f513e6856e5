package cron_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// inOffice runs test with a cluster of three nodes that share a schedule. It returns where the
// schedule runs.
func inOffice(t *testing.T, b *logbook, test func(c *clustertest.Cluster, host func() string), entries ...cron.Entry) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		for _, n := range c.Nodes() {
			start(t, n, b, entries...)
		}
		time.Sleep(10 * time.Second)
		test(c, func() string {
			for _, n := range c.Nodes() {
				if status, _ := singleton.StatusOf(n.System, "cron-cron"); status.Phase == singleton.Host {
					return n.View().Self.Name
				}
			}
			return ""
		})
	})
}

func minutes(from, to int) (all []string) {
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprintf("%02d:%02d", n/60, n%60))
	}
	return all
}

func TestEachRunTakesPlaceOnceInTheCluster(t *testing.T) {
	effort.Unraced(t)
	b := new(logbook)
	inOffice(t, b, func(c *clustertest.Cluster, host func() string) {
		time.Sleep(5 * time.Minute)
		c.Crash(host())
		time.Sleep(5 * time.Minute)
		c.Leave(host())
		time.Sleep(5 * time.Minute)
		require.Equal(t, minutes(1, 15), b.due("15:04"))
		require.True(t, slices.IsSortedFunc(b.runs, func(x, y cron.Run) int {
			if x.Generation.Less(y.Generation) {
				return -1
			}
			return 0
		}), "generations grow")
		require.Less(t, b.runs[0].Generation.Term, b.runs[14].Generation.Term)
	}, cron.Entry{Name: "minutes", Job: "note", Spec: "* * * * *"})
}

// A crash between the start of a run and its acknowledgement: the run begins again, with the same
// id.
func TestARunWhoseHostCrashesBeginsAgain(t *testing.T) {
	effort.Unraced(t)
	b := &logbook{takes: 20 * time.Second}
	inOffice(t, b, func(c *clustertest.Cluster, host func() string) {
		time.Sleep(5 * time.Minute)
		require.Equal(t, []string{"00:05"}, b.due("15:04"))
		c.Crash(host())
		time.Sleep(time.Minute)
		require.Equal(t, []string{"00:05", "00:05"}, b.due("15:04"))
		first, again := b.runs[0], b.runs[1]
		require.Equal(t, first.ID(), again.ID())
		require.Equal(t, []int{1, 2}, []int{first.Attempt, again.Attempt})
		require.True(t, first.Generation.Less(again.Generation))
		time.Sleep(5 * time.Minute)
		require.Equal(t, []string{"00:05", "00:05", "00:10"}, b.due("15:04"))
	}, cron.Entry{Name: "fives", Job: "note", Spec: "*/5 * * * *"})
}

// A host that leaves interrupts its runs; one that has returned does not begin again.
func TestARunWhoseHostLeavesBeginsAgainUnlessItHasReturned(t *testing.T) {
	effort.Unraced(t)
	for name, ignores := range map[string]bool{"interrupted": false, "returns": true} {
		t.Run(name, func(t *testing.T) {
			b := &logbook{takes: 5 * time.Second, ignores: ignores}
			inOffice(t, b, func(c *clustertest.Cluster, host func() string) {
				time.Sleep(5*time.Minute - 9*time.Second)
				require.Len(t, b.due("15:04"), 1)
				c.Leave(host())
				time.Sleep(time.Minute)
				if ignores {
					require.Len(t, b.due("15:04"), 1)
					return
				}
				require.Len(t, b.due("15:04"), 2)
				require.Equal(t, 2, b.runs[1].Attempt)
			}, cron.Entry{Name: "fives", Job: "note", Spec: "*/5 * * * *"})
		})
	}
}

// The hand-over falls into the second in which 300 entries are due.
func TestAMoveInTheSecondInWhichRunsAreDue(t *testing.T) {
	effort.Unraced(t)
	var entries []cron.Entry
	for n := range 300 {
		entries = append(entries, cron.Entry{Name: fmt.Sprintf("e%03d", n), Job: "note", Spec: "*/5 * * * *"})
	}
	b := &logbook{takes: 10 * time.Millisecond, ignores: true}
	inOffice(t, b, func(c *clustertest.Cluster, host func() string) {
		time.Sleep(5*time.Minute - 10*time.Second + 5*time.Millisecond)
		c.Leave(host())
		time.Sleep(time.Minute)
		ids := map[string]bool{}
		for _, r := range b.runs {
			ids[r.ID()] = true
			require.Equal(t, 1, r.Attempt)
		}
		require.Len(t, ids, 300)
		require.Len(t, b.runs, 300, "none twice")
	}, entries...)
}

// An instance that was replaced and does not know it begins no run, because the journal refuses
// what it writes.
func TestAStaleHostBeginsNoRun(t *testing.T) {
	effort.Unraced(t)
	b := new(logbook)
	inOffice(t, b, func(c *clustertest.Cluster, host func() string) {
		stale := host()
		var others []string
		for _, n := range c.Nodes() {
			if name := n.View().Self.Name; name != stale {
				others = append(others, name)
			}
		}
		time.Sleep(10 * time.Second)
		c.Partition([]string{stale}, others)
		time.Sleep(10 * time.Minute)
		require.Equal(t, minutes(1, 10), b.due("15:04"))
		c.Heal()
		c.AwaitQuiet()
	}, cron.Entry{Name: "minutes", Job: "note", Spec: "* * * * *"})
}

// All that was due in an outage of a night runs afterwards, a few runs at a time.
func TestWhatWasDueInAnOutageIsNoHerd(t *testing.T) {
	effort.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		var going, most, runs atomic.Int64
		job := cron.Func(func(context.Context, cron.Run) error {
			most.Store(max(most.Load(), going.Add(1)))
			time.Sleep(time.Second)
			going.Add(-1)
			runs.Add(1)
			return nil
		})
		var entries []cron.Entry
		for n := range 300 {
			entries = append(entries, cron.Entry{Name: fmt.Sprint(n), Job: "job", Spec: "0 * * * *", Missed: cron.All(10)})
		}
		store := journal.NewMemory()
		begin := func() *clustertest.Cluster {
			c := clustertest.Start(t, 1, clustertest.WithJournal(store))
			_, err := cron.Start(c.Node("n1"), cron.Config{Jobs: map[string]cron.Job{"job": job}, Entries: entries, MaxRuns: 50})
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
			return c
		}
		begin().Leave("n1")
		time.Sleep(10 * time.Hour)
		begin()
		require.Less(t, runs.Load(), int64(1000), "no herd")
		time.Sleep(time.Minute)
		require.EqualValues(t, 50, most.Load())
		require.EqualValues(t, 3000, runs.Load())
	})
}

// aheadJournal is a journal whose clock is ahead of the host's.
type aheadJournal struct {
	*journal.Memory
	by atomic.Int64
}

func (j *aheadJournal) Now(ctx context.Context) (time.Time, error) {
	now, err := j.Memory.Now(ctx)
	return now.Add(time.Duration(j.by.Load())), err
}

func TestRunsGoByTheClockOfTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, store := new(logbook), &aheadJournal{Memory: journal.NewMemory()}
		store.by.Store(int64(40 * time.Minute))
		c, err := cron.Start(on(t, store), cron.Config{
			Jobs:    map[string]cron.Job{"note": b.job()},
			Entries: []cron.Entry{{Name: "hours", Job: "note", Spec: "0 * * * *", Missed: cron.All(5)}},
		})
		require.NoError(t, err)
		time.Sleep(21 * time.Minute)
		require.Equal(t, []string{"01:00"}, b.due("15:04"))
		store.by.Add(-int64(time.Hour)) // set back: nothing runs twice
		time.Sleep(time.Hour)
		require.Equal(t, []string{"01:00"}, b.due("15:04"))
		time.Sleep(time.Hour)
		require.Equal(t, []string{"01:00", "02:00"}, b.due("15:04"))
		store.by.Add(int64(2 * time.Hour)) // set forward: nothing is lost
		time.Sleep(2 * time.Minute)
		require.Equal(t, []string{"01:00", "02:00", "03:00"}, b.due("15:04")[:3])
		status, err := c.Entry(t.Context(), "hours")
		require.NoError(t, err)
		require.Zero(t, status.Counts[cron.NotRun])
	})
}

// usedUp lets the clock of the journal be a year ahead for two minutes. It returns the schedule,
// with an entry that has no runs therefore.
func usedUp(t *testing.T, s *actor.System, store *aheadJournal, b *logbook) *cron.Schedule {
	t.Helper()
	c, err := cron.Start(s, cron.Config{
		Jobs:    map[string]cron.Job{"note": b.job()},
		Entries: []cron.Entry{{Name: "minutes", Job: "note", Spec: "* * * * *"}},
	})
	require.NoError(t, err)
	time.Sleep(3*time.Minute + time.Second)
	store.by.Store(int64(365 * 24 * time.Hour))
	time.Sleep(2 * time.Minute)
	store.by.Store(0)
	time.Sleep(2 * time.Minute)
	b.clear()
	time.Sleep(time.Hour)
	require.Empty(t, b.due("15:04"), "the times of a year are dealt with")
	return c
}

func TestAnEntryWhoseTimesAClockThatWasAheadHasUsedUpIsAProblemUntilItIsRewound(t *testing.T) {
	const name = "minutes"
	twos := cron.Entry{Name: name, Job: "note", Spec: "*/2 * * * *"}
	for how, revive := range map[string]func(c *cron.Schedule, ctx context.Context) error{
		"Rewind": func(c *cron.Schedule, ctx context.Context) error { return c.Rewind(ctx, name) },
		"Resume": func(c *cron.Schedule, ctx context.Context) error { return c.Resume(ctx, name) },
		"Pause and Resume": func(c *cron.Schedule, ctx context.Context) error {
			return errors.Join(c.Pause(ctx, name), c.Resume(ctx, name))
		},
		"Set, with other times": func(c *cron.Schedule, ctx context.Context) error { return c.Set(ctx, twos) },
		"Set, as it is": func(c *cron.Schedule, ctx context.Context) error {
			return c.Set(ctx, cron.Entry{Name: name, Job: "note", Spec: "* * * * *"})
		},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, store := new(logbook), &aheadJournal{Memory: journal.NewMemory()}
				log, lines := observer.New(zap.ErrorLevel)
				s := on(t, store, actor.WithLogger(zap.New(log)))
				c := usedUp(t, s, store, b)
				require.Equal(t, 1, lines.FilterMessage("an entry has no runs").Len(), "logged once, and at once")
				status, err := c.Entry(t.Context(), name)
				require.NoError(t, err)
				require.Contains(t, status.Problem, "used up its times until 2000-12-31 00:0")
				page, problems := shown(t, s)
				require.Equal(t, status.Problem, page[0].Entries[0].Problem, "the page says so, too")
				require.Contains(t, problems[0].Text, " has no runs: "+status.Problem)
				require.NoError(t, revive(c, t.Context()))
				time.Sleep(10 * time.Minute)
				require.GreaterOrEqual(t, len(b.due("15:04")), 5)
				status, err = c.Entry(t.Context(), name)
				require.NoError(t, err)
				require.Empty(t, status.Problem)
			})
		})
	}
}

func TestADeclarationThatIsNewRewindsAnEntryAndARestartDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, store := new(logbook), &aheadJournal{Memory: journal.NewMemory()}
		s := on(t, store)
		usedUp(t, s, store, b)
		require.NoError(t, s.Shutdown(t.Context()))
		for _, spec := range []string{"* * * * *", "*/2 * * * *"} {
			s := on(t, store)
			_, err := cron.Start(s, cron.Config{
				Jobs:    map[string]cron.Job{"note": b.job()},
				Entries: []cron.Entry{{Name: "minutes", Job: "note", Spec: spec}},
			})
			require.NoError(t, err)
			time.Sleep(10 * time.Minute)
			require.Equal(t, spec != "* * * * *", len(b.due("15:04")) > 0)
			require.NoError(t, s.Shutdown(t.Context()))
		}
	})
}

// The schedule of a journal without a clock goes by the clocks of hosts.
func TestASingleHostWhoseClockIsWrongMovesNoEntry(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": 365 * 24 * time.Hour, "behind": -365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := struct{ persistence.Journal }{journal.NewMemory()} // it has no clock
				c, b := clustertest.Start(t, 3, clustertest.WithJournal(store)), new(logbook)
				c.Jump("n1", by)
				time.Sleep(10 * time.Second)
				for _, n := range c.Nodes() {
					_, err := cron.Start(n, cron.Config{
						Jobs:    map[string]cron.Job{"note": b.job()},
						Entries: []cron.Entry{{Name: "minutes", Job: "note", Spec: "* * * * *"}},
					})
					require.NoError(t, err)
				}
				time.Sleep(2 * time.Minute)
				require.Equal(t, []string{"2000-01-01 00:01", "2000-01-01 00:02"}, b.due("2006-01-02 15:04"))
			})
		})
	}
}

// Clocks are set forward in March and back in October, in three zones at once.
func TestAYearWithItsChangesOfClocks(t *testing.T) {
	effort.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		b := new(logbook)
		var entries []cron.Entry
		for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"} {
			entries = append(entries, cron.Entry{Name: zone, Job: "note", Spec: "15 2 * * *", Zone: zone})
		}
		entries = append(entries, cron.Entry{Name: "earlier", Job: "note", Spec: "45 1 * * *", Zone: "Australia/Lord_Howe"}) // doubled
		start(t, on(t, journal.NewMemory()), b, entries...)
		time.Sleep(366 * 24 * time.Hour)
		days := map[string]int{}
		for i, r := range b.runs {
			require.Less(t, b.at[i].Sub(r.Due), time.Second)
			days[r.Entry+r.Due.Format(" 2006-01-02")]++
		}
		for day, runs := range days {
			require.Equal(t, 1, runs, day)
		}
		require.InDelta(t, 4*366, len(days), 4)
	})
}
