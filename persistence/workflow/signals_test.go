package workflow_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
)

func TestSignalsThatComeBeforeTheyAreAwaitedWaitInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		typ, h := started(t, s, func(w *workflow.Run) (string, error) {
			if err := workflow.Sleep(w, time.Hour); err != nil {
				return "", err
			}
			all := ""
			for range 3 {
				text, err := workflow.Await[string](w, "text", time.Minute)
				if err != nil {
					return all, err
				}
				all += text
			}
			_, err := workflow.Await[string](w, "text", time.Minute)
			if !errors.Is(err, workflow.ErrTimedOut) {
				return "", fmt.Errorf("not in time: %w", err)
			}
			return all, nil
		})
		for _, text := range []string{"a", "b", "c"} {
			require.NoError(t, workflow.Signal(t.Context(), typ, "1", "text", text))
		}
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "abc", got)
	})
}

func TestASignalWithAKeyCountsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, _ *journal.Memory) {
		typ, h := started(t, s, func(w *workflow.Run) (string, error) {
			all := ""
			for range 3 {
				text, err := workflow.Await[string](w, "text", 0)
				if err != nil {
					return all, err
				}
				all += text
			}
			return all, nil
		})
		send := func(text, key string) error {
			return workflow.Signal(t.Context(), typ, "1", "text", text, workflow.SignalKey(key))
		}
		for range 3 {
			require.NoError(t, send("a", "1"))
			require.NoError(t, send("b", "2"))
			pass(time.Hour) // it leaves memory
		}
		require.NoError(t, workflow.Signal(t.Context(), typ, "1", "other", "c", workflow.SignalKey("3")))
		require.NoError(t, send("d", "3"))
		got, err := h.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "abd", got)
		require.NoError(t, send("d", "3"), "it was stored before the end")
		require.ErrorIs(t, send("e", "4"), workflow.ErrEnded)
		require.ErrorIs(t, send("e", ""), workflow.ErrInvalid)
	})
}
