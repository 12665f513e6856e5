package actor

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A sender may find a bypass open and tell when it has closed: the child may have been told to end
// by then.
func TestASenderThatIsLateForABypassTellsTheActor(t *testing.T) {
	frugally(t, func(t *testing.T, s *System) {
		var actorGot, childGot []int
		collect := func(into *[]int) Behavior[int] {
			return func(_ *Context[int], next *Next[int]) {
				next.OnMessage = func(_ *Context[int], n int) Behavior[int] {
					*into = append(*into, n)
					return nil
				}
			}
		}
		var child ActorRef[int]
		ref := Spawn(s, func(ctx *Context[int], next *Next[int]) {
			child = Spawn(ctx, collect(&childGot), "")
			collect(&actorGot)(ctx, next)
		}, "")
		synctest.Wait()
		c, to := ref.c.impl.(*cell), child.c.impl.(*cell)
		c.own().bypass.Store(&to.inbox) // what the sender has read

		to.core.setInstead(true)
		require.True(t, tellChild(ref.c, 1, nil))
		to.core.setInstead(false)
		require.False(t, tellChild(ref.c, 2, nil))
		tellAside(ref.c, 2)
		synctest.Wait()
		require.Equal(t, []int{1}, childGot)
		require.Equal(t, []int{2}, actorGot)
	})
}
