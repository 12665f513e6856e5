package actor_test

import (
	"runtime"
	"testing"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// An actor whose goroutine ends while it pauses, or when its pause is over, ends like any other.
func TestTheEndOfAGoroutineEndsAnActorThatPauses(t *testing.T) {
	exit := func(int) actor.Behavior[int] { runtime.Goexit(); return nil }
	whilePausing := func(end func(extension.Pause)) func(extension.Pause) {
		return func(pause extension.Pause) { end(pause); runtime.Goexit() }
	}
	for name, c := range map[string]struct {
		end   func(extension.Pause)
		after func(int) actor.Behavior[int]
	}{
		"before the end of the pause":     {whilePausing(inASecond), onward},
		"after the end of the pause":      {whilePausing(extension.Pause.End), onward},
		"without an end of the pause":     {whilePausing(func(extension.Pause) {}), onward},
		"in what follows a pause":         {inASecond, exit},
		"in what follows a pause at once": {extension.Pause.End, exit},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[int](t, s)
				for _, supervised := range []bool{false, true} {
					b := pausing(p, c.end, c.after)
					if supervised {
						b = behaviors.Supervise(b, actor.Strategy{})
					}
					ref := actor.Spawn(s, b, "")
					ref.Tell(1)
					testkit.NewProbe[int](t, s).ExpectTerminated(ref)
				}
			})
		})
	}
}
