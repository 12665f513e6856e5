package cron_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/persistence/journal"
)

var minutely = cron.Entry{Name: "minutes", Job: "note", Spec: "* * * * *"}

// A run takes three and a half minutes, and its entry changes while it goes on.
func TestARunThatGoesOnSurvivesEveryChangeOfItsEntry(t *testing.T) {
	other := minutely
	other.Spec, other.Args, other.Job = "*/1 0-23 * * *", "x", "other"
	for name, change := range map[string]func(ctx context.Context, c *cron.Schedule) error{
		"no change": func(context.Context, *cron.Schedule) error { return nil },
		"Remove and Set": func(ctx context.Context, c *cron.Schedule) error {
			return errors.Join(c.Remove(ctx, "minutes"), c.Set(ctx, minutely))
		},
		"Remove, and Set later": func(ctx context.Context, c *cron.Schedule) error {
			err := c.Remove(ctx, "minutes")
			time.Sleep(time.Minute)
			return errors.Join(err, c.Set(ctx, minutely))
		},
		"other settings": func(ctx context.Context, c *cron.Schedule) error { return c.Set(ctx, other) },
		"Pause and Resume": func(ctx context.Context, c *cron.Schedule) error {
			return errors.Join(c.Pause(ctx, "minutes"), c.Resume(ctx, "minutes"))
		},
	} {
		for kind, entries := range map[string][]cron.Entry{"declared": {minutely}, "set": nil} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := &logbook{takes: 3*time.Minute + 30*time.Second}
					jobs := map[string]cron.Job{"note": b.job(), "other": b.job()}
					c, err := cron.Start(on(t, journal.NewMemory()), cron.Config{Jobs: jobs, Entries: entries})
					require.NoError(t, err)
					require.NoError(t, c.Set(t.Context(), minutely))
					time.Sleep(time.Minute + time.Second)
					require.NoError(t, change(t.Context(), c))
					status, err := c.Entry(t.Context(), "minutes")
					require.NoError(t, err)
					require.Len(t, status.Open, 1)
					require.Equal(t, "00:01", status.Open[0].Due.Format("15:04"))
					time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 5, 1, 0, time.UTC)))
					require.Equal(t, []string{"00:01", "00:05"}, b.due("15:04"), "never two at once")
					status, err = c.Entry(t.Context(), "minutes")
					require.NoError(t, err)
					require.EqualValues(t, 1, status.Counts[cron.Done])
					require.Equal(t, "00:01", status.History[0].Due.Format("15:04"))
				})
			})
		}
	}
}

// In a roll-back the host of the schedule moves to a program that does not declare the entry, and
// later to one that does.
func TestARunThatAMoveInterruptsBeginsAgainAfterARollBackOfItsDeclaration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, store := &logbook{takes: 3 * time.Minute}, journal.NewMemory()
		next, previous := []cron.Entry{minutely}, []cron.Entry(nil)
		for _, entries := range [][]cron.Entry{next, previous, next} {
			s := on(t, store)
			start(t, s, b, entries...)
			time.Sleep(time.Minute + time.Second)
			require.NoError(t, s.Shutdown(t.Context()))
		}
		require.Equal(t, []string{"00:01", "00:01"}, b.due("15:04"))
		require.Equal(t, 2, b.runs[1].Attempt)
		b.clear()
		s := on(t, store)
		c := start(t, s, b, next...)
		time.Sleep(3*time.Minute + time.Second)
		status, err := c.Entry(t.Context(), "minutes")
		require.NoError(t, err)
		require.Equal(t, 3, status.History[0].Attempt)
	})
}

func TestARemovedEntryIsForgottenWithItsLastRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &logbook{takes: 5 * time.Minute}
		c := start(t, on(t, journal.NewMemory()), b)
		queue := minutely
		queue.Overlap = cron.QueueRun
		require.NoError(t, c.Set(t.Context(), queue))
		time.Sleep(3*time.Minute + time.Second)
		require.NoError(t, c.Remove(t.Context(), "minutes"))
		time.Sleep(10 * time.Minute)
		require.Equal(t, []string{"00:01"}, b.due("15:04"), "those that waited do not run")
		require.NoError(t, c.Set(t.Context(), minutely))
		status, err := c.Entry(t.Context(), "minutes")
		require.NoError(t, err)
		require.Empty(t, status.Counts)
	})
}
