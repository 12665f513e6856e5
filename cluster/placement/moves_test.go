package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// took returns the moves so far as "label from->to cause duration error", and forgets them.
func (r specsRig) took() []string {
	all := []string{}
	for _, m := range r.moves {
		text := m.Label + " " + m.From + "->" + m.To + " " + string(m.Cause) + " " + r.now.Sub(m.Began).String()
		if m.Error != "" {
			text += ": " + m.Error
		}
		all = append(all, text)
		require.NotZero(r.t, m.Request)
	}
	r.moves = nil
	return all
}

func TestAMoveIsReportedWhenTheActorRunsAgain(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s")))
	require.Empty(t, r.took(), "the first start is no move")
	r.holdStarts = true
	r.crash("a")
	r.pass(2 * time.Second)
	require.Empty(t, r.took())
	r.release()
	r.runs("s", "b")
	require.Equal(t, []string{"s a->b node lost 2s"}, r.took())
	r.end("b", "s", "")
	r.pass(time.Second)
	require.Equal(t, []string{"s b->b ended 1s"}, r.took())
	r.pass(time.Hour)
	require.Empty(t, r.took())
}

func TestADrainedActorMovesFromWhenItIsToldToStop(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s")))
	r.holdStops = true
	r.drain("a")
	r.pass(3 * time.Second)
	r.release()
	r.runs("s", "b")
	require.Equal(t, []string{"s a->b drain 3s"}, r.took())
}

func TestAFailedStartEndsAMoveAndBeginsAnother(t *testing.T) {
	r := newSpecsRig(t, "a", "b", "c")
	require.Equal(t, "a", r.placed(specOf("s")))
	failures := 1
	r.failStart = func(home.StartRequest, home.NodeID) string {
		if failures--; failures < 0 {
			return ""
		}
		return "no room"
	}
	r.crash("a")
	require.Equal(t, []string{"s a->b node lost 0s: no room"}, r.took())
	r.pass(time.Second)
	require.Equal(t, []string{"s a->c node lost 1s"}, r.took())
}

func TestARemovalIsNoMove(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s")))
	r.remove("s")
	require.Equal(t, "a", r.placed(specOf("s").WithCrashStrategy(Abandon())))
	r.crash("a")
	r.absent("s")
	require.Equal(t, "b", r.placed(specOf("s")))
	r.holdStarts = true
	r.end("b", "s", "")
	r.pass(time.Second)
	r.remove("s")
	r.release()
	require.Empty(t, r.took())
}

func TestASingletonMovesToItsAnchor(t *testing.T) {
	r := specsRig{newSingletonsRig(t, "a", "b:first")}
	r.answered(r.start("one", Role("first")))
	r.join(70, "c:first")
	require.Empty(t, r.took())
	r.crash("b")
	require.Equal(t, []string{"one b->c node lost 0s"}, r.took())
	r.stop("one")
	require.Empty(t, r.took())
}

func TestAnActorThatAFormerCoordinatorHasStartedMovesToo(t *testing.T) {
	r := newSpecsRig(t, "a", "b", "c")
	require.Equal(t, "a", r.placed(specOf("s")))
	r.answered(r.start("one", Leader()))
	r.is("one", SingletonActive, "a", 1, 0)
	r.vanish("a")
	r.boot()
	require.Equal(t, []string{"s a->b node lost 0s", "one a->b node lost 0s"}, r.took())
}
