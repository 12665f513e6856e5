package workflow_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
)

var operator = workflow.By{Who: "ann", Why: "a test"}

// The answer to a refund is lost, and an operator lets the run charge anew. If that run fails, too,
// its refund is another one, wherever it is registered. What has not begun keeps its key.
func TestACompensationOfAStepThatIsDoneAnewHasAnotherKey(t *testing.T) {
	for _, before := range []bool{false, true} {
		inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
			var refunds, releases []string
			lost := true
			typ, h := started(t, s, func(w *workflow.Run) (string, error) {
				if err := workflow.Do(w, "reserve", func(context.Context) error { return nil }); err != nil {
					return "", err
				}
				w.Compensate("release", func(ctx context.Context) error { releases = append(releases, workflow.Key(ctx)); return nil })
				refund := func() {
					w.Compensate("refund", func(ctx context.Context) error {
						refunds = append(refunds, workflow.Key(ctx))
						if lost {
							return errors.New("no answer")
						}
						return nil
					})
				}
				if before {
					refund()
				}
				if err := workflow.Do(w, "charge", func(context.Context) error { return nil }); err != nil {
					return "", err
				}
				if !before {
					refund()
				}
				return "", workflow.Do(w, "ship", func(context.Context) error { return errDeclined })
			})
			pass(time.Second)
			require.NotEmpty(t, refunds)
			require.Empty(t, releases)
			first := refunds[0]
			lost, refunds = false, nil
			require.NoError(t, typ.Resume(t.Context(), "1", "charge", operator))
			_, err := h.Result(t.Context())
			require.ErrorIs(t, err, errDeclined)
			require.Equal(t, []string{first + "~2"}, refunds)
			require.Equal(t, []string{"job/1/compensate/release"}, releases)
		})
	}
}

// What awaits have taken waits again, and the signal that the operator drops may be sent again.
func TestASignalOutlivesResumeUnlessItsWaitIsNamed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		typ, h := started(t, s, func(w *workflow.Run) (string, error) {
			if err := workflow.Do(w, "ask", func(context.Context) error { return nil }); err != nil {
				return "", err
			}
			first, err := workflow.Await[string](w, "answer", 0)
			if err != nil {
				return "", err
			}
			second, err := workflow.Await[string](w, "answer", 0)
			return first + " " + second, err
		})
		send := func(text string) {
			require.NoError(t, workflow.Signal(t.Context(), typ, "1", "answer", text, workflow.SignalKey(text)))
		}
		expect := func(want string) {
			got, err := h.Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		send("a")
		send("b")
		expect("a b")
		require.NoError(t, typ.Resume(t.Context(), "1", "ask", operator))
		expect("a b")
		require.NoError(t, typ.Resume(t.Context(), "1", "answer#1", operator)) // drops a
		pass(time.Minute)
		send("a")
		expect("b a")
		require.NoError(t, typ.Resume(t.Context(), "1", "answer#2", operator))
		pass(time.Minute)
		send("a")
		send("a")
		expect("b a")
	})
}

// Nothing has to be undone, so the function is not needed.
func TestARunWithAnInputOfAFormerProgramCanBeCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		typ, _ := started(t, s, func(*workflow.Run) (string, error) { return "", nil })
		wrong := workflow.Of[order, string](s, "job")
		h, err := wrong.Run(t.Context(), "2", order{})
		require.NoError(t, err)
		pass(time.Second)
		begun := time.Now()
		st, err := typ.Look(t.Context(), "2") // it leaves memory, and is tried again
		require.NoError(t, err)
		require.Less(t, time.Since(begun), time.Second)
		require.Equal(t, workflow.Held, st.State)
		require.Contains(t, st.Error, "register the type under that name")
		require.NoError(t, typ.Cancel(t.Context(), "2", operator))
		_, err = h.Result(t.Context())
		require.ErrorIs(t, err, workflow.ErrCancelled)
	})
}

func TestATypeIsStartedOnceOnANode(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		started(t, s, func(*workflow.Run) (string, error) { return "", nil })
		_, err := workflow.Start(s, "job", func(*workflow.Run, order) (int, error) { return 0, nil })
		require.ErrorIs(t, err, workflow.ErrInvalid)
		require.ErrorContains(t, err, `"job"`)
	})
}

// No two steps have one key, whatever their names and the ids of their runs.
func TestKeysOfDifferentStepsDiffer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		var mu sync.Mutex
		keys := map[string]int{}
		note := func(ctx context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			for _, suffix := range []string{"", "#2", "~2"} { // of a second call, and after Resume
				keys[workflow.Key(ctx)+suffix]++
			}
			return nil
		}
		for _, name := range []string{"order", "order/4711"} {
			typ, err := workflow.Start(s, name, func(w *workflow.Run, _ int) (string, error) {
				pay := func(w *workflow.Run) error { return workflow.Do(w, "pay", note) }
				for _, name := range []string{"pay", "pay#2", "pay~2", "pay%232", "4711/pay"} {
					if err := workflow.Do(w, name, note); err != nil {
						return "", err
					}
				}
				return "", workflow.Branch(w, "items", pay, pay)
			})
			require.NoError(t, err)
			for _, id := range []string{"4711", "4711/items/0", "4711/4711", "4711#2", "4711~2"} {
				h, err := typ.Run(t.Context(), id, 0)
				require.NoError(t, err)
				_, err = h.Result(t.Context())
				require.NoError(t, err)
			}
		}
		for key, times := range keys {
			require.Equal(t, 1, times, key)
		}
		require.Len(t, keys, 2*5*7*3)
		require.Contains(t, keys, "order/4711/items/1/pay")
	})
}
