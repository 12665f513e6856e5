package cron_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A badErr has no text.
type badErr struct{}

func (badErr) Error() string { panic("no text") }

func putInto(m map[string]int) error {
	m["x"] = 1
	return nil
}

// A brokenJournal is away for a while.
type brokenJournal struct {
	*journal.Memory
	broken atomic.Bool
}

func (j *brokenJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if j.broken.Load() {
		errs := make([]error, len(reqs))
		for i := range errs {
			errs[i] = journal.ErrUnavailable
		}
		return errs
	}
	return j.Memory.Append(ctx, reqs)
}

// Whatever a job does, its run has failed, and the schedule goes on.
func TestJobsThatMisbehave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := map[string]cron.Job{
			"bad":  cron.Func(func(context.Context, cron.Run) error { return badErr{} }),
			"exit": cron.Func(func(context.Context, cron.Run) error { runtime.Goexit(); return nil }),
			"canc": cron.Func(func(context.Context, cron.Run) error { return context.Canceled }),
			"nil":  cron.Func(func(context.Context, cron.Run) error { return putInto(nil) }),
		}
		var es []cron.Entry
		for n := range jobs {
			es = append(es, cron.Entry{Name: n, Spec: "* * * * *"})
		}
		c, err := cron.Start(on(t, journal.NewMemory()), cron.Config{Jobs: jobs, Entries: es})
		require.NoError(t, err)
		time.Sleep(10*time.Minute + time.Second)
		for n := range jobs {
			s, err := c.Entry(t.Context(), n)
			require.NoError(t, err)
			require.NotEmpty(t, s.History[0].Error)
			require.EqualValues(t, 10, s.Counts[cron.Failed])
		}
	})
}

// The schedule does nothing that it cannot store.
func TestRunsWaitForTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, j := new(logbook), &brokenJournal{Memory: journal.NewMemory()}
		_, err := cron.Start(on(t, j), cron.Config{
			Jobs:    map[string]cron.Job{"note": b.job()},
			Entries: []cron.Entry{{Name: "m", Job: "note", Spec: "* * * * *", Missed: cron.All(100)}},
		})
		require.NoError(t, err)
		time.Sleep(3*time.Minute + 30*time.Second)
		j.broken.Store(true)
		time.Sleep(5 * time.Minute)
		j.broken.Store(false)
		time.Sleep(3 * time.Minute)
		require.Equal(t, minutes(1, 11), b.due("15:04"))
		for _, r := range b.runs {
			require.Equal(t, 1, r.Attempt)
		}
	})
}
