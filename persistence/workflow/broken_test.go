package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
)

// After a restart, runs of the first type that is started go on before the second is started.
func TestParentsAndChildrenMayBeStartedInAnyOrder(t *testing.T) {
	for _, order := range [][]string{{"parent", "child"}, {"child", "parent"}} {
		t.Run(strings.Join(order, " before "), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := journal.NewMemory()
				begin := func(pause time.Duration) (s *actor.System, parents *workflow.Type[int, int]) {
					s = actor.NewSystem("test", persistence.WithJournal(j))
					for _, name := range order {
						typ, err := workflow.Start(s, name, func(w *workflow.Run, minutes int) (int, error) {
							if err := workflow.Sleep(w, time.Duration(minutes)*time.Minute); err != nil || w.Type() == "child" {
								return minutes, err
							}
							return workflow.Child(w, "child", workflow.Of[int, int](s, "child"), w.ID(), 60, 0)
						})
						require.NoError(t, err)
						if name == "parent" {
							parents = typ
						}
						pass(pause)
					}
					return s, parents
				}
				s, parents := begin(0)
				_, err := parents.Run(t.Context(), "begins its child later", 100)
				require.NoError(t, err)
				_, err = parents.Run(t.Context(), "has a child that ends later", 1)
				require.NoError(t, err)
				pass(30 * time.Minute)
				require.NoError(t, s.Shutdown(t.Context()))
				pass(10 * time.Hour)
				s, parents = begin(time.Minute)
				for _, id := range []string{"begins its child later", "has a child that ends later"} {
					got, err := parents.Handle(id).Result(t.Context())
					require.NoError(t, err)
					require.Equal(t, 60, got)
				}
				require.NoError(t, s.Shutdown(t.Context()))
			})
		})
	}
}

func TestACompensationThatEndsItsGoroutineHoldsTheRun(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		calls := 0
		jobs, err := workflow.Start(s, "job", func(w *workflow.Run, _ string) (string, error) {
			w.Compensate("undo", func(context.Context) error {
				if calls++; calls < 3 {
					runtime.Goexit()
				}
				return nil
			})
			return "", errDeclined
		})
		require.NoError(t, err)
		job, err := jobs.Run(t.Context(), "1", "")
		require.NoError(t, err)
		pass(time.Second / 2)
		st, err := jobs.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Held, st.State)
		require.Contains(t, st.Error, "runtime.Goexit")
		_, err = job.Result(t.Context())
		require.ErrorIs(t, err, errDeclined)
		require.Equal(t, 3, calls)
	})
}

func TestAStepWhoseResultsCannotBeStoredDoesNotBegin(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		type secret struct{ pin int } //nolint:unused // it is lost, that is the point
		calls := 0
		jobs, err := workflow.Start(s, "job", func(w *workflow.Run, _ string) (string, error) {
			_, err := workflow.Step(w, "charge", func(context.Context) (secret, error) { calls++; return secret{}, nil })
			return "", err
		})
		require.NoError(t, err)
		_, err = jobs.Run(t.Context(), "1", "")
		require.NoError(t, err)
		pass(time.Hour)
		st, err := jobs.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Held, st.State)
		require.Contains(t, st.Error, "pin")
		require.Zero(t, calls)
	})
}

func TestTheLongestNamesMayBeAwaited(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		longest := strings.Repeat("x", 200)
		var jobs *workflow.Type[bool, string]
		jobs, err := workflow.Start(s, "job", func(w *workflow.Run, parent bool) (string, error) {
			if parent {
				return workflow.Child(w, longest, workflow.Of[bool, string](s, "job"), "child", false, 0)
			}
			return workflow.Await[string](w, longest, 0)
		})
		require.NoError(t, err)
		job, err := jobs.Run(t.Context(), "parent", true)
		require.NoError(t, err)
		pass(time.Minute)
		require.NoError(t, workflow.Signal(t.Context(), jobs, "child", longest, "yes"))
		got, err := job.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "yes", got)
	})
}

// A down is a journal that takes nothing for a while.
type down struct {
	journal.Journal
	why atomic.Pointer[error] // nil while it is up
}

func (d *down) Unwrap() journal.Journal { return d.Journal }

func (d *down) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	why := d.why.Load()
	if why == nil {
		return d.Journal.Append(ctx, reqs)
	}
	errs := make([]error, len(reqs))
	for i := range errs {
		errs[i] = *why
	}
	return errs
}

func TestAStepWaitsWithItsOutcomeForTheJournal(t *testing.T) {
	for outage, why := range map[time.Duration]error{
		2*time.Minute + 30*time.Second: journal.ErrUnavailable, // shorter than the actor waits
		3 * time.Minute:                journal.ErrFull,
		5 * time.Hour:                  journal.ErrUnavailable,
	} {
		t.Run(fmt.Sprint(why, " for ", outage), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &down{Journal: journal.NewMemory()}
				s := actor.NewSystem("test", persistence.WithJournal(j))
				calls := 0
				jobs, err := workflow.Start(s, "job", func(w *workflow.Run, _ string) (string, error) {
					return workflow.Step(w, "charge", func(context.Context) (string, error) {
						calls++
						time.Sleep(time.Minute)
						return "charged", nil
					})
				})
				require.NoError(t, err)
				job, err := jobs.Run(t.Context(), "1", "")
				require.NoError(t, err)
				pass(time.Second)
				j.why.Store(&why)
				pass(outage) // it has its outcome after a minute
				j.why.Store(nil)
				got, err := job.Result(t.Context())
				require.NoError(t, err)
				require.Equal(t, "charged", got)
				require.Equal(t, 1, calls)
				require.NoError(t, s.Shutdown(t.Context()))
			})
		})
	}
}

func TestAValueThatNoJournalTakesHoldsTheRunAndALongErrorIsCut(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		large, calls := strings.Repeat("x", 13<<20), 0
		jobs, err := workflow.Start(s, "job", func(w *workflow.Run, fails bool) (string, error) {
			return workflow.Step(w, "load", func(context.Context) (string, error) {
				if fails {
					return "", errors.New(large)
				}
				calls++
				return large, nil
			})
		})
		require.NoError(t, err)
		_, err = jobs.Run(t.Context(), "large", false)
		require.NoError(t, err)
		pass(time.Minute)
		st, err := jobs.Look(t.Context(), "large")
		require.NoError(t, err)
		require.Equal(t, workflow.Held, st.State)
		require.Contains(t, st.Error, "13631")
		require.Less(t, calls, 10)
		require.ErrorIs(t, workflow.Signal(t.Context(), jobs, "large", "more", large), workflow.ErrNotStorable)
		job, err := jobs.Run(t.Context(), "fails", true)
		require.NoError(t, err)
		_, err = job.Result(t.Context())
		require.ErrorContains(t, err, "xxx")
		require.Less(t, len(err.Error()), 100<<10)
	})
}
