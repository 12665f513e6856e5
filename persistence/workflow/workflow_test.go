package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit"
)

type order struct {
	Item  string
	Total int
}

type receipt struct {
	Stock, Charge string
}

type approved struct{ By string }

var errDeclined = errors.New("declined")

func init() {
	actor.RegisterType[order]("workflow-test.order")
	actor.RegisterType[receipt]("workflow-test.receipt")
	actor.RegisterType[approved]("workflow-test.approved")
	actor.RegisterError("workflow-test.declined", errDeclined)
}

func inBubble(t *testing.T, test func(t *testing.T, s *actor.System, j *journal.Memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		test(t, testkit.NewSystem(t, persistence.WithJournal(j)), j)
	})
}

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestARunReturnsTheResultOfItsFunction(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		orders, err := workflow.Start(s, "order", func(w *workflow.Run, o order) (receipt, error) {
			stock, err := workflow.Step(w, "reserve", func(context.Context) (string, error) { return "one " + o.Item, nil })
			if err != nil {
				return receipt{}, err
			}
			return receipt{Stock: stock}, nil
		})
		require.NoError(t, err)
		h, err := orders.Run(t.Context(), "4711", order{Item: "tea"})
		require.NoError(t, err)
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, receipt{Stock: "one tea"}, got)
	})
}

func TestARunThatSleepsLeavesMemoryAndComesBack(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		calls, unwound := 0, 0
		orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ order) (receipt, error) {
			calls++
			defer func() { unwound++ }()
			if err := workflow.Do(w, "begin", func(context.Context) error { return nil }); err != nil {
				return receipt{}, err
			}
			if err := workflow.Sleep(w, 24*time.Hour); err != nil {
				return receipt{}, err
			}
			return receipt{Charge: "late"}, nil
		})
		require.NoError(t, err)
		begun := time.Now()
		h, err := orders.Run(t.Context(), "1", order{})
		require.NoError(t, err)
		pass(time.Hour)
		require.Equal(t, 1, calls)
		require.Equal(t, 1, unwound)
		pass(24 * time.Hour)
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, receipt{Charge: "late"}, got)
		require.Equal(t, 2, calls)
		st, err := orders.Look(t.Context(), "1")
		require.NoError(t, err)
		require.WithinDuration(t, begun.Add(24*time.Hour), st.Ended, time.Second)
	})
}

// Each sleep ends once, also behind the ninth, although the run has left memory in each.
func TestALoopSleepsAsOftenAsItSays(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		calls := 0
		polls, err := workflow.Start(s, "poll", func(w *workflow.Run, times int) (int, error) {
			loop := func(w *workflow.Run) error {
				for i := range times {
					if err := workflow.Sleep(w, time.Hour); err != nil {
						return err
					}
					if err := workflow.Do(w, fmt.Sprint("poll ", i), func(context.Context) error { calls++; return nil }); err != nil {
						return err
					}
				}
				return nil
			}
			if err := loop(w); err != nil {
				return 0, err
			}
			return times, workflow.Branch(w, "again", loop)
		})
		require.NoError(t, err)
		h, err := polls.Run(t.Context(), "1", 12)
		require.NoError(t, err)
		for hour := range 24 {
			pass(time.Hour)
			require.Equal(t, hour+1, calls)
		}
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, 12, got)
	})
}

func TestASignalBringsARunBackFromSleep(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ order) (receipt, error) {
			a, err := workflow.Await[approved](w, "approval", 0)
			return receipt{Charge: a.By}, err
		})
		require.NoError(t, err)
		h, err := orders.Run(t.Context(), "1", order{})
		require.NoError(t, err)
		pass(time.Hour)
		require.NoError(t, workflow.Signal(t.Context(), orders, "1", "approval", approved{By: "ann"}))
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, receipt{Charge: "ann"}, got)
		require.ErrorIs(t, workflow.Signal(t.Context(), orders, "1", "approval", approved{By: "ben"}), workflow.ErrEnded)
		require.ErrorIs(t, workflow.Signal(t.Context(), orders, "2", "approval", approved{By: "ben"}), workflow.ErrNotFound)
	})
}

func TestAFailedStepIsTriedAgainAndThenCompensated(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		var did []string
		attempts := 0
		orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ order) (receipt, error) {
			for _, name := range []string{"a", "b"} {
				if err := workflow.Do(w, name, func(context.Context) error { did = append(did, name); return nil }); err != nil {
					return receipt{}, err
				}
				w.Compensate("undo "+name, func(context.Context) error { did = append(did, "undo "+name); return nil })
			}
			return receipt{}, workflow.Do(w, "charge", func(context.Context) error { attempts++; return errDeclined },
				workflow.Retry(4, actor.Backoff{Min: time.Minute, Max: time.Hour}))
		})
		require.NoError(t, err)
		h, err := orders.Run(t.Context(), "1", order{})
		require.NoError(t, err)
		_, err = h.Result(t.Context())
		require.ErrorIs(t, err, errDeclined)
		require.Equal(t, 4, attempts)
		require.Equal(t, []string{"a", "b", "undo b", "undo a"}, did)
		st, err := orders.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Failed, st.State)
	})
}

func TestACancelledRunIsCompensated(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		undone := false
		orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ order) (receipt, error) {
			w.Compensate("undo", func(context.Context) error { undone = true; return nil })
			return receipt{}, workflow.Do(w, "long", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
		})
		require.NoError(t, err)
		h, err := orders.Run(t.Context(), "1", order{})
		require.NoError(t, err)
		pass(time.Hour)
		st, err := orders.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Running, st.State)
		require.NoError(t, orders.Cancel(t.Context(), "1", workflow.By{Who: "ann", Why: "changed her mind"}))
		_, err = h.Result(t.Context())
		require.ErrorIs(t, err, workflow.ErrCancelled)
		require.ErrorContains(t, err, "by ann: changed her mind")
		require.True(t, undone)
	})
}

func TestAnErrorOfAStepAndOfARunIsReturnedWhateverTheTypeOfTheResult(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		numbers, err := workflow.Start(s, "numbers", func(w *workflow.Run, _ string) ([]int, error) {
			_, first := workflow.Step(w, "text", func(context.Context) (string, error) { return "", errDeclined })
			_, second := workflow.Step(w, "list", func(context.Context) ([]string, error) { return nil, errDeclined })
			_, third := workflow.Await[int](w, "signal", time.Second)
			if !errors.Is(first, errDeclined) || !errors.Is(second, errDeclined) || !errors.Is(third, workflow.ErrTimedOut) {
				return nil, errors.Join(first, second, third)
			}
			return nil, errDeclined
		})
		require.NoError(t, err)
		h, err := numbers.Run(t.Context(), "1", "")
		require.NoError(t, err)
		_, err = h.Result(t.Context())
		require.ErrorIs(t, err, errDeclined)
		require.EqualError(t, err, "declined")
	})
}
