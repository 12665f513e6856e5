package workflow_test

import (
	"context"
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

// startKids starts a type whose runs sleep, and fail while they are broken.
func startKids(t *testing.T, s *actor.System, broken *bool) *workflow.Type[int, int] {
	t.Helper()
	kids, err := workflow.Start(s, "kid", func(w *workflow.Run, n int) (int, error) {
		if err := workflow.Sleep(w, time.Hour); err != nil {
			return 0, err
		}
		return workflow.Step(w, "work", func(context.Context) (int, error) {
			if *broken {
				return 0, errDeclined
			}
			return n, nil
		})
	})
	require.NoError(t, err)
	return kids
}

// A parent that an operator lets go on from a step has forgotten what ended after it. It is told
// again how its child has ended, also if the child had begun before that step.
func TestAParentThatIsResumedHearsOfItsChildAgain(t *testing.T) {
	by := workflow.By{Who: "ann", Why: "a test"}
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		broken := true
		kids := startKids(t, s, &broken)
		parents, err := workflow.Start(s, "parent", func(w *workflow.Run, _ int) (n int, _ error) {
			return n, workflow.Branch(w, "both",
				func(w *workflow.Run) (err error) { n, err = workflow.Child(w, "kid", kids, "k", 42, 0); return err },
				func(w *workflow.Run) error {
					return workflow.Do(w, "check", func(context.Context) error { return nil })
				})
		})
		require.NoError(t, err)
		h, err := parents.Run(t.Context(), "p", 0)
		require.NoError(t, err)
		_, err = h.Result(t.Context())
		require.ErrorIs(t, err, errDeclined)

		for _, step := range []string{"both/1/check", "both/0/kid", "both/0/result of kid"} { // nothing was mended
			require.NoError(t, parents.Resume(t.Context(), "p", step, by))
			_, err = h.Result(t.Context())
			require.ErrorIs(t, err, errDeclined)
		}

		broken = false
		require.NoError(t, kids.Resume(t.Context(), "k", "work", by))
		pass(time.Minute) // the parent has ended, and does not go on by itself
		_, err = h.Result(t.Context())
		require.ErrorIs(t, err, errDeclined)
		for _, step := range []string{"both/0/result of kid", "both/1/check"} {
			require.NoError(t, parents.Resume(t.Context(), "p", step, by))
			got, err := h.Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, 42, got)
		}
		pass(time.Hour)
		st, err := parents.Look(t.Context(), "p")
		require.NoError(t, err)
		require.Empty(t, st.Signals)
	})
}

// While the parent is held, its child ends twice. The second end counts.
func TestTheLastEndOfAChildCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		broken := true
		kids := startKids(t, s, &broken)
		got := 0
		_, h := started(t, s, func(w *workflow.Run) (string, error) {
			return "", workflow.Branch(w, "both",
				func(w *workflow.Run) (err error) { got, err = workflow.Child(w, "kid", kids, "k", 42, 0); return err },
				func(w *workflow.Run) error {
					if err := workflow.Sleep(w, 50*time.Minute); err != nil || !broken {
						return err
					}
					panic("not yet")
				})
		})
		pass(61 * time.Minute)
		broken = false
		require.NoError(t, kids.Resume(t.Context(), "k", "work", workflow.By{Who: "ann"}))
		_, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, 42, got)
	})
}

// The child has slept, its process has died in the next step, and it ends before the type of its
// parent is started.
func TestAParentWhoseTypeIsStartedLaterHearsOfItsChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		takes := time.Minute
		startKids := func(s *actor.System) *workflow.Type[int, int] {
			kids, err := workflow.Start(s, "kid", func(w *workflow.Run, n int) (int, error) {
				if err := workflow.Sleep(w, time.Hour); err != nil {
					return 0, err
				}
				return workflow.Step(w, "work", func(context.Context) (int, error) { time.Sleep(takes); return n, nil })
			})
			require.NoError(t, err)
			return kids
		}
		startParents := func(s *actor.System, kids *workflow.Type[int, int]) *workflow.Type[int, int] {
			parents, err := workflow.Start(s, "parent", func(w *workflow.Run, _ int) (int, error) { return workflow.Child(w, "kid", kids, "k", 42, 0) })
			require.NoError(t, err)
			return parents
		}
		former := testkit.NewSystem(t, persistence.WithJournal(j))
		_, err := startParents(former, startKids(former)).Run(t.Context(), "p", 0)
		require.NoError(t, err)
		pass(time.Hour + 10*time.Second) // it works
		require.NoError(t, former.Shutdown(t.Context()))
		takes = 0
		s := testkit.NewSystem(t, persistence.WithJournal(j))
		kids := startKids(s)
		pass(5 * time.Minute)
		st, err := kids.Look(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, workflow.Done, st.State)
		pass(5 * time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		got, err := startParents(s, kids).Handle("p").Result(ctx)
		require.NoError(t, err)
		require.Equal(t, 42, got)
	})
}
