package placement_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/placement"
)

// The next process at the address of a node gets what is for the one before, and has not started
// placement yet. A client has no such refs at all, now or later.
func TestWhatANodeRefusesThatHasNotStartedPlacementIsUnavailable(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		n := w.Add("n2")
		ask := func(s *actor.System, path string) error {
			_, err := actor.AskTimeout(t.Context(), actor.Resolve[message](s, path), time.Minute, func(r actor.ActorRef[result]) message {
				return increment{By: 1, ReplyTo: r}
			})
			return err
		}
		err := ask(w.Node("n1").System, "understudy://test@"+n.Address()+"/placement/one")
		require.ErrorIs(t, err, actor.ErrNoSuchActor)
		require.ErrorIs(t, err, placement.ErrUnavailable)
		err = ask(w.Dial("client").System, "understudy://test/placement/one")
		require.ErrorIs(t, err, actor.ErrNoSuchActor)
		require.NotErrorIs(t, err, placement.ErrUnavailable)
	})
}
