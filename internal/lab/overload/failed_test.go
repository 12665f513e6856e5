package overload

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// An ask at whose request a handler fails ends at once: with the failure, or with the end of an
// actor that it ends.
func TestAFailureEndsItsAsk(t *testing.T) {
	for _, name := range []string{"plain", "prioritized", "singleton", "singleton, event-sourced", "entity", "entity, event-sourced", "placed"} {
		for from, system := range callers {
			if name == "placed" && from == "client" {
				continue
			}
			t.Run(name+"/"+from, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := clustertest.Start(t, 3)
					var l ledger
					ref := targets[name](t, c, &l)
					c.AwaitQuiet()
					to := ref(system(c))
					var warm tally
					for tries := 0; warm.answered.Load() == 0; tries++ {
						require.Less(t, tries, 100)
						warm.ask(t, to)
					}
					begun := time.Now()
					_, err := actor.AskTimeout(t.Context(), to, time.Minute, func(r actor.ActorRef[int]) Work { return Work{Tell: poison, ReplyTo: r} })
					if !errors.Is(err, actor.ErrTerminated) {
						require.ErrorIs(t, err, actor.ErrHandlerFailed)
						require.ErrorContains(t, err, "poison")
					}
					require.Less(t, time.Since(begun), time.Second)
				})
			})
		}
	}
}
