package singleton_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// Two sides of a partition that share a source have generations of their own, and the later side
// has the greater one.
func TestTwoSidesThatShareASourceHaveDifferentGenerations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := journal.NewMemory()
		var last singleton.Generation
		for range 3 {
			s := testkit.NewSystem(t, testkit.WithoutEncoding())
			actor.Spawn(s, behaviors.Singleton(mortal, singleton.WithGenerations(source)), "one")
			synctest.Wait()
			status, _ := singleton.StatusOf(s, "one")
			require.True(t, status.Here)
			require.True(t, last.Less(status.Generation), "%v is not after %v", status.Generation, last)
			last = status.Generation
		}
	})
}

// An instance that is refused by the outside fails for that reason, which no supervision inside
// hides. It returns only under a later generation.
func TestAnInstanceThatIsRefusedOutsideStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := testkit.NewProbe[string](t, s)
		refused := func() actor.Behavior[msg] {
			return behaviors.Supervise(behaviors.Receive(func(ctx *actor.Context[msg], m msg) actor.Behavior[msg] {
				m.ReplyTo.Tell(singleton.GenerationOf(ctx).String())
				return ctx.Fail(fmt.Errorf("put: %w", singleton.ErrFenced))
			}), actor.Strategy{})
		}
		ref := actor.Spawn(s, behaviors.Singleton(refused), "one")
		for _, want := range []string{"1.1", "2.1", "3.1"} {
			ref.Tell(msg{"put", p.Ref()})
			p.Expect(want)
			time.Sleep(10 * time.Second)
		}
	})
}
