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

// A process that was replaced, and does not know it yet, has the run in memory as it was.
func TestAProcessThatWasReplacedDoesNotSayThatARunIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		start := func(s *actor.System) *workflow.Type[string, string] {
			typ, err := workflow.Start(s, "job", func(*workflow.Run, string) (string, error) { return "done", nil })
			require.NoError(t, err)
			return typ
		}
		before := start(testkit.NewSystem(t, persistence.WithJournal(j)))
		_, err := before.Handle("1").Result(t.Context())
		require.ErrorIs(t, err, workflow.ErrNotFound)
		after := start(testkit.NewSystem(t, persistence.WithJournal(j)))
		_, err = after.Run(t.Context(), "1", "")
		require.NoError(t, err)
		synctest.Wait()
		got, err := before.Handle("1").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "done", got)
	})
}

// Compensations are known only once the function has come to them again.
func TestACancelledRunIsHeldUntilAProgramRegistersAllItsCompensations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, recalled := journal.NewMemory(), 0
		start := func(version int) (*actor.System, *workflow.Type[string, string]) {
			s := testkit.NewSystem(t, persistence.WithJournal(j))
			typ, err := workflow.Start(s, "job", func(w *workflow.Run, _ string) (string, error) {
				undo := func() {
					w.Compensate("recall", func(context.Context) error { recalled++; return nil })
					w.Compensate("tell", func(context.Context) error {
						if version == 1 {
							return errDeclined // so that the run does not end
						}
						return nil
					})
				}
				if version == 3 { // before the step that is new
					undo()
				}
				if version > 1 {
					if err := workflow.Do(w, "notify", nothing); err != nil {
						return "", err
					}
				}
				if err := workflow.Do(w, "ship", nothing); err != nil {
					return "", err
				}
				if version < 3 {
					undo()
				}
				_, err := workflow.Await[string](w, "signal", 0)
				return "", err
			})
			require.NoError(t, err)
			return s, typ
		}
		first, typ := start(1)
		h, err := typ.Run(t.Context(), "1", "")
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.NoError(t, typ.Cancel(t.Context(), "1", workflow.By{Who: "ann"}))
		time.Sleep(time.Minute)
		require.NoError(t, first.Shutdown(t.Context()))

		second, typ := start(2)
		time.Sleep(time.Hour)
		st, err := typ.Look(t.Context(), "1")
		require.NoError(t, err)
		require.Equal(t, workflow.Held, st.State)
		require.Contains(t, st.Error, `"recall"`)
		require.Zero(t, recalled)
		require.NoError(t, second.Shutdown(t.Context()))

		_, typ = start(3)
		time.Sleep(time.Hour)
		_, err = typ.Handle(h.ID()).Result(t.Context())
		require.ErrorIs(t, err, workflow.ErrCancelled)
		require.Equal(t, 1, recalled)
	})
}
