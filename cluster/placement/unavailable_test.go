package placement_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
)

// ask asks a counter from a node, for one second.
func (w *world) ask(from, label string) error {
	w.t.Helper()
	return errorOf(actor.AskTimeout(w.t.Context(), counters.Ref(w.Node(from).System, label), time.Second, func(r actor.ActorRef[result]) message {
		return increment{By: 1, ReplyTo: r}
	}))
}

// onTwo returns a spec that only n2 and n3 may run.
func (w *world) onTwo(label string) placement.Spec {
	return w.spec(label).WithConstraints(placement.Constraints{Roles: []string{"role-n2", "role-n3"}})
}

// A node dies. Asks of its actor say why they end without a reply, from the moment at which the
// death is noticed until the actor runs elsewhere.
func TestAnAskDuringAFailoverSaysSinceWhenAndUntilWhen(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.onTwo("one"))
		settle()
		at := w.add("n1", "one").Node[:2]
		w.Crash(at)
		crashed, told, expected := time.Now(), 0, cluster.Config{}.Expected()
		var err error
		for err = w.ask("n1", "one"); err != nil; err = w.ask("n1", "one") {
			switch {
			case errors.Is(err, placement.ErrUnavailable):
				require.ErrorIs(t, err, context.DeadlineExceeded, "as of any ask that has not been answered")
				require.ErrorContains(t, err, "; unavailable since ")
				require.ErrorContains(t, err, ", and if a node has died, until ")
				told++
			case errors.Is(err, actor.ErrUnreachable):
				require.ErrorContains(t, err, "was removed from the cluster")
			default:
				require.Zero(t, told, "%v", err)
				require.Less(t, time.Since(crashed), expected.WorstDetection+time.Second, "%v", err)
			}
		}
		require.Greater(t, told, 2)
		require.Less(t, time.Since(crashed), expected.FailoverUnfenced+5*time.Second)
	})
}

// Only the node that has reached the actor before knows when it was lost.
func TestTheFirstAskLongAfterACrashNamesNoTime(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("one").WithConstraints(w.on("n2")))
		settle()
		w.add("n1", "one")
		w.Crash("n2")
		time.Sleep(20 * time.Minute)
		require.ErrorContains(t, w.ask("n1", "one"), "; unavailable since 00:00:")
		err := w.ask("n3", "one")
		require.ErrorIs(t, err, placement.ErrUnavailable)
		require.NotContains(t, err.Error(), "since")
	})
}

func TestAnAskOfALabelThatNobodyHasSubmittedSaysSo(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		err := w.ask("n1", "nothing")
		require.ErrorIs(t, err, placement.ErrUnavailable)
		require.ErrorIs(t, err, actor.ErrWithdrawn)
		require.ErrorContains(t, err, `"nothing" runs on no node`)
	})
}

func TestAnAskOfAPlacedActorThatDoesNotAnswerIsNotCalledUnavailable(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.submit(slow.Spec("mute", slowness{Plan: w.name}))
		settle()
		err := errorOf(actor.AskTimeout(t.Context(), slow.Ref(w.Node("n1").System, "mute"), time.Second, func(r actor.ActorRef[result]) message {
			return increment{ReplyTo: r}
		}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, placement.ErrUnavailable)
	})
}

func TestASpecThatIsTooLargeNamesTheLimitThatItPasses(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		s := w.spec("one")
		s.State = make([]byte, 4<<20-1000)
		_, err := w.client["n1"].Submit(t.Context(), s)
		require.ErrorIs(t, err, placement.ErrInvalid)
		require.ErrorContains(t, err, "at most 4177920 fit into a message between nodes")
	})
}
