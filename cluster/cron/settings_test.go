package cron_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	entry := cron.Entry{Name: "note", Spec: "0 * * * *"}
	for want, change := range map[string]func(*cron.Config){
		"Config.Jobs has no job":      func(c *cron.Config) { c.Jobs = nil },
		"is the zero Job":             func(c *cron.Config) { c.Jobs["zero"] = cron.Job{} },
		"Config.MaxRuns is -1":        func(c *cron.Config) { c.MaxRuns = -1 },
		"Config.Name":                 func(c *cron.Config) { c.Name = strings.Repeat("x", 101) },
		"two entries with the name":   func(c *cron.Config) { c.Entries = []cron.Entry{entry, entry} },
		`has no job "other"`:          func(c *cron.Config) { c.Entries = []cron.Entry{{Name: "other", Spec: "0 * * * *"}} },
		"a schedule has at most 1000": func(c *cron.Config) { c.Entries = make([]cron.Entry, 1001) },
	} {
		c := cron.Config{Jobs: map[string]cron.Job{"note": new(logbook).job()}, Entries: []cron.Entry{entry}}
		change(&c)
		_, err := cron.Start(on(t, journal.NewMemory()), c)
		require.ErrorContains(t, err, want)
	}
}

func TestAScheduleNeedsANodeOrASystem(t *testing.T) {
	_, err := cron.Start(struct{ *actor.System }{testkit.NewSystem(t)}, cron.Config{Jobs: map[string]cron.Job{"note": cron.Func(func(context.Context, cron.Run) error { return nil })}})
	require.ErrorContains(t, err, "Start takes a *cluster.Node or an *actor.System")
}

func TestAScheduleNeedsAJournal(t *testing.T) {
	c := cron.Config{Jobs: map[string]cron.Job{"note": new(logbook).job()}}
	_, err := cron.Start(testkit.NewSystem(t), c)
	require.ErrorIs(t, err, persistence.ErrNoJournal)
	_, err = cron.Start(clustertest.Start(t, 1, clustertest.WithJournal(nil)).Node("n1"), c)
	require.ErrorIs(t, err, persistence.ErrNoJournal)
}

func TestStartReportsAllThatIsWrong(t *testing.T) {
	c := cron.Config{Jobs: map[string]cron.Job{"note": new(logbook).job()}}
	c.Options = []singleton.Option{singleton.Buffer(200_000)}
	for n := range 3 {
		c.Entries = append(c.Entries, cron.Entry{Name: fmt.Sprint("e", n), Job: "note", Spec: "60 * * * *"})
	}
	_, err := cron.Start(on(t, journal.NewMemory()), c)
	for _, want := range []string{"buffer size 200000", `"e0"`, `"e1"`, `"e2"`} {
		require.ErrorContains(t, err, want)
	}
}

func TestAScheduleIsStartedOncePerNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := on(t, journal.NewMemory()), cron.Config{Jobs: map[string]cron.Job{"note": new(logbook).job()}}
		_, err := cron.Start(s, c)
		require.NoError(t, err)
		_, err = cron.Start(s, c)
		require.ErrorContains(t, err, `the schedule "cron" has been started on this node before`)
		c.Name = "other"
		_, err = cron.Start(s, c)
		require.NoError(t, err)
	})
}

func TestErrorsOfRequestsReachOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, schedules := clustertest.Start(t, 3), []*cron.Schedule{}
		for _, n := range c.Nodes() {
			schedules = append(schedules, start(t, n, new(logbook)))
		}
		for i, s := range schedules {
			require.ErrorIs(t, s.Remove(t.Context(), "nothing"), cron.ErrNoEntry)
			require.ErrorIs(t, s.Pause(t.Context(), "\xff"), cron.ErrNoEntry)
			require.ErrorContains(t, s.Set(t.Context(), cron.Entry{Name: "x", Job: "note", Spec: "x"}), "five fields")
			name := fmt.Sprint("e", i)
			require.NoError(t, s.Set(t.Context(), cron.Entry{Name: name, Job: "note", Spec: "0 0 1 1 *"}))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, s.Pause(ctx, name), context.Canceled)
		}
		_, err := schedules[1].Trigger(t.Context(), "e0")
		require.NoError(t, err)
		time.Sleep(time.Second)
		e, err := schedules[2].Entry(t.Context(), "e0")
		require.NoError(t, err)
		require.Equal(t, "n1", e.History[0].Node)
		all, err := schedules[0].Entries(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 3)
	})
}

// A run that is going on when its entry is changed or removed ends as it would have.
func TestEntriesChangeWhileTheyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &logbook{takes: 10 * time.Minute}
		e := cron.Entry{Name: "hours", Job: "note", Spec: "0 * * * *"}
		c := start(t, on(t, journal.NewMemory()), b, e)
		time.Sleep(time.Hour + time.Minute)
		_, err := c.Trigger(t.Context(), "hours")
		require.ErrorContains(t, err, "a run is going on since")
		e.Spec, e.Overlap = "5 * * * *", cron.QueueRun
		require.NoError(t, c.Set(t.Context(), e))
		time.Sleep(30 * time.Minute)
		require.Equal(t, []string{"01:00", "01:05"}, b.due("15:04"))
		status, err := c.Entry(t.Context(), "hours")
		require.NoError(t, err)
		require.EqualValues(t, 2, status.Counts[cron.Done])
		time.Sleep(36 * time.Minute) // 02:07
		require.NoError(t, c.Remove(t.Context(), "hours"))
		time.Sleep(2 * time.Hour)
		require.Equal(t, []string{"01:00", "01:05", "02:05"}, b.due("15:04"))
	})
}
